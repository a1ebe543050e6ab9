// Complex numbers as PyTorch's kernels have them: two numbers of a name, with the arithmetic that C++ gives
// std::complex.
#pragma once
#include <adgen_torch.h>
#include <complex>

namespace c10 {
template <class T> struct alignas(2 * sizeof(T)) complex {
  using value_type = T;
  T real_ = 0, imag_ = 0;

  constexpr complex() = default;
  __host__ __device__ constexpr complex(const T &real, const T &imag = T()) : real_(real), imag_(imag) {}
  template <class U>
  __host__ __device__ explicit constexpr complex(const complex<U> &from)
      : real_(static_cast<T>(from.real_)), imag_(static_cast<T>(from.imag_)) {}
  __host__ __device__ constexpr T real() const { return real_; }
  __host__ __device__ constexpr T imag() const { return imag_; }
  __host__ __device__ constexpr void real(T value) { real_ = value; }
  __host__ __device__ constexpr void imag(T value) { imag_ = value; }

  __host__ __device__ constexpr complex &operator=(T value) { return *this = complex(value); }
  __host__ __device__ constexpr complex &operator+=(T value) { return real_ += value, *this; }
  __host__ __device__ constexpr complex &operator-=(T value) { return real_ -= value, *this; }
  __host__ __device__ constexpr complex &operator*=(T value) { return real_ *= value, imag_ *= value, *this; }
  __host__ __device__ constexpr complex &operator/=(T value) { return real_ /= value, imag_ /= value, *this; }
  __host__ __device__ constexpr complex &operator+=(const complex &by) {
    return real_ += by.real_, imag_ += by.imag_, *this;
  }
  __host__ __device__ constexpr complex &operator-=(const complex &by) {
    return real_ -= by.real_, imag_ -= by.imag_, *this;
  }
  __host__ __device__ constexpr complex &operator*=(const complex &by) {
    return *this = complex(real_ * by.real_ - imag_ * by.imag_, real_ * by.imag_ + imag_ * by.real_);
  }
  __host__ __device__ constexpr complex &operator/=(const complex &by) {
    const T norm = by.real_ * by.real_ + by.imag_ * by.imag_;
    return *this = complex((real_ * by.real_ + imag_ * by.imag_) / norm, (imag_ * by.real_ - real_ * by.imag_) / norm);
  }

  friend __host__ __device__ constexpr complex operator+(const complex &a) { return a; }
  friend __host__ __device__ constexpr complex operator-(const complex &a) { return complex(-a.real_, -a.imag_); }
  friend __host__ __device__ constexpr complex operator+(complex a, const complex &b) { return a += b; }
  friend __host__ __device__ constexpr complex operator-(complex a, const complex &b) { return a -= b; }
  friend __host__ __device__ constexpr complex operator*(complex a, const complex &b) { return a *= b; }
  friend __host__ __device__ constexpr complex operator/(complex a, const complex &b) { return a /= b; }
  friend __host__ __device__ constexpr complex operator+(complex a, const T &b) { return a += b; }
  friend __host__ __device__ constexpr complex operator-(complex a, const T &b) { return a -= b; }
  friend __host__ __device__ constexpr complex operator*(complex a, const T &b) { return a *= b; }
  friend __host__ __device__ constexpr complex operator/(complex a, const T &b) { return a /= b; }
  friend __host__ __device__ constexpr complex operator+(const T &a, complex b) { return b += a; }
  friend __host__ __device__ constexpr complex operator-(const T &a, const complex &b) { return complex(a) -= b; }
  friend __host__ __device__ constexpr complex operator*(const T &a, complex b) { return b *= a; }
  friend __host__ __device__ constexpr complex operator/(const T &a, const complex &b) { return complex(a) /= b; }
  friend __host__ __device__ constexpr bool operator==(const complex &a, const complex &b) {
    return a.real_ == b.real_ && a.imag_ == b.imag_;
  }
  friend __host__ __device__ constexpr bool operator!=(const complex &a, const complex &b) { return !(a == b); }
};

// The type of a number's parts.
template <class T> struct scalar_value_type {
  using type = T;
};
template <class T> struct scalar_value_type<complex<T>> {
  using type = T;
};
template <class T> __host__ __device__ complex<T> polar(const T &length, const T &angle = T()) {
  return complex<T>(length * std::cos(angle), length * std::sin(angle));
}
} // namespace c10

namespace std {
template <class T> __host__ __device__ constexpr T real(const c10::complex<T> &z) { return z.real_; }
template <class T> __host__ __device__ constexpr T imag(const c10::complex<T> &z) { return z.imag_; }
template <class T> __host__ __device__ T abs(const c10::complex<T> &z) { return std::hypot(z.real_, z.imag_); }
template <class T> __host__ __device__ T arg(const c10::complex<T> &z) { return std::atan2(z.imag_, z.real_); }
template <class T> __host__ __device__ constexpr T norm(const c10::complex<T> &z) {
  return z.real_ * z.real_ + z.imag_ * z.imag_;
}
template <class T> __host__ __device__ constexpr c10::complex<T> conj(const c10::complex<T> &z) {
  return c10::complex<T>(z.real_, -z.imag_);
}
template <class T> __host__ __device__ c10::complex<T> exp(const c10::complex<T> &z) {
  return c10::polar(std::exp(z.real_), z.imag_);
}
} // namespace std

template <class T> __device__ void gpuAtomicAdd(c10::complex<T> *to, c10::complex<T> value) {
  atomicAdd(&to->real_, value.real_);
  atomicAdd(&to->imag_, value.imag_);
}
