// std::function of C++ files, in place of libstdc++'s. That one keeps small objects where it keeps the address of others: Enzyme takes no memory for a number
// at one time and an address at another, nor knows what a copy of it is. This one always keeps an address, that of an object with virtual functions.
#pragma GCC system_header
#ifndef ADGEN_STD_FUNCTION_H
#define ADGEN_STD_FUNCTION_H
#include <bits/stl_function.h>
#if __cplusplus >= 201103L
#include <bits/functexcept.h>
#include <bits/invoke.h>
#include <bits/refwrap.h>
#include <type_traits>
#include <typeinfo>
#include <utility>
#endif
#define function adgen_function_of_libstdcxx // other headers need what else is there
#include_next <bits/std_function.h>
#undef function

#if __cplusplus >= 201103L
namespace adgen {

template <class T>
using Handed = typename std::conditional<std::is_scalar<T>::value, T, T &&>::type;

template <class R, class... A>
struct Held {
  virtual ~Held() = default;
  virtual R call(Handed<A>... given) = 0;
  virtual Held *copy() const = 0;
  virtual const void *place() const = 0;
#if __cpp_rtti
  virtual const std::type_info &type() const = 0;
#endif
};

template <class F, class R, class... A>
struct HeldObject final : Held<R, A...> {
  F object;

  template <class From>
  HeldObject(std::true_type, From &&from) : object(std::forward<From>(from)) {}
  R call(Handed<A>... given) override { return std::__invoke_r<R>(object, std::forward<A>(given)...); }
  HeldObject *copy() const override { return new HeldObject(std::true_type(), object); }
  const void *place() const override { return std::__addressof(object); }
#if __cpp_rtti
  const std::type_info &type() const override { return typeid(F); }
#endif
};

template <class F>
bool isEmpty(const F &) { return false; }
template <class T>
bool isEmpty(T *address) { return address == nullptr; }
template <class T, class C>
bool isEmpty(T C::*member) { return member == nullptr; }

} // namespace adgen

namespace std _GLIBCXX_VISIBILITY(default)
{
_GLIBCXX_BEGIN_NAMESPACE_VERSION

template <class Signature>
class function;

template <class Signature>
bool isEmpty(const function<Signature> &held) { return !held; }

template <class R, class... A>
class function<R(A...)> : public _Maybe_unary_or_binary_function<R, A...> {
  template <class F>
  using Other = typename enable_if<!is_same<typename decay<F>::type, function>::value>::type;
  template <class F>
  using Fitting = typename enable_if<__is_invocable_impl<__invoke_result<typename decay<F>::type &, A...>, R>::type::value>::type;

public:
  using result_type = R;

  function() noexcept = default;
  function(nullptr_t) noexcept {}
  function(const function &other) : _M_held(other ? other._M_held->copy() : nullptr) {}
  function(function &&other) noexcept : _M_held(other._M_held) { other._M_held = nullptr; }
  template <class F, class = Other<F>, class = Fitting<F>>
  function(F &&object) {
    static_assert(is_copy_constructible<typename decay<F>::type>::value, "what a std::function holds must be copyable");
    using adgen::isEmpty;
    if (!isEmpty(object))
      _M_held = new adgen::HeldObject<typename decay<F>::type, R, A...>(true_type(), std::forward<F>(object));
  }
  ~function() { delete _M_held; }

  function &operator=(const function &other) {
    function(other).swap(*this);
    return *this;
  }
  function &operator=(function &&other) noexcept {
    function(std::move(other)).swap(*this);
    return *this;
  }
  function &operator=(nullptr_t) noexcept {
    function().swap(*this);
    return *this;
  }
  template <class F, class = Other<F>, class = Fitting<F>>
  function &operator=(F &&object) {
    function(std::forward<F>(object)).swap(*this);
    return *this;
  }
  template <class F>
  function &operator=(reference_wrapper<F> object) noexcept {
    function(object).swap(*this);
    return *this;
  }

  void swap(function &other) noexcept { std::swap(_M_held, other._M_held); }
  explicit operator bool() const noexcept { return _M_held != nullptr; }
  R operator()(A... given) const {
    if (!_M_held)
      __throw_bad_function_call();
    return _M_held->call(std::forward<A>(given)...);
  }

#if __cpp_rtti
  const type_info &target_type() const noexcept { return _M_held ? _M_held->type() : typeid(void); }
  template <class F>
  const F *target() const noexcept { return target_type() == typeid(F) ? static_cast<const F *>(_M_held->place()) : nullptr; }
  template <class F>
  F *target() noexcept { return const_cast<F *>(static_cast<const function *>(this)->template target<F>()); }
#endif

private:
  adgen::Held<R, A...> *_M_held = nullptr; // named as libstdc++ names members
};

#if __cpp_deduction_guides >= 201606
template <class R, class... A>
function(R (*)(A...)) -> function<R(A...)>;
template <class F, class Signature = typename __function_guide_helper<decltype(&F::operator())>::type>
function(F) -> function<Signature>;
#endif

template <class S>
bool operator==(const function<S> &held, nullptr_t) noexcept { return !held; }
#if __cpp_impl_three_way_comparison < 201907L
template <class S>
bool operator==(nullptr_t, const function<S> &held) noexcept { return !held; }
template <class S>
bool operator!=(const function<S> &held, nullptr_t) noexcept { return static_cast<bool>(held); }
template <class S>
bool operator!=(nullptr_t, const function<S> &held) noexcept { return static_cast<bool>(held); }
#endif
template <class S>
void swap(function<S> &one, function<S> &other) noexcept { one.swap(other); }

_GLIBCXX_END_NAMESPACE_VERSION
} // namespace std
#endif
#endif
