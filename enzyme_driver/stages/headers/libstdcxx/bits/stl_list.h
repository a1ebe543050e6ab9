// The nodes of std::list: libstdc++ has compiled what chains them, whose body is needed to change the shadows alike.
#pragma GCC system_header
#include_next <bits/stl_list.h>
#if __cplusplus >= 201103L && !defined(ADGEN_STL_LIST_H)
#define ADGEN_STL_LIST_H
namespace adgen {

template <class Node>
inline void chain(Node *one, Node *next) noexcept {
  one->_M_next = next;
  next->_M_prev = one;
}

// Of a node that was copied: the neighbours lead to it instead of the original; of an empty list it leads to itself.
template <class Node>
inline void takePlace(Node &copy, const Node &original) noexcept {
  if (copy._M_next == &original)
    copy._M_next = copy._M_prev = &copy;
  else
    copy._M_next->_M_prev = copy._M_prev->_M_next = &copy;
}

} // namespace adgen

namespace std _GLIBCXX_VISIBILITY(default)
{
namespace __detail {
_GLIBCXX_BEGIN_NAMESPACE_VERSION

inline void _List_node_base::_M_hook(_List_node_base *const position) noexcept {
  adgen::chain(position->_M_prev, this);
  adgen::chain(this, position);
}

inline void _List_node_base::_M_unhook() noexcept { adgen::chain(_M_prev, _M_next); }

inline void _List_node_base::_M_transfer(_List_node_base *const first, _List_node_base *const last) noexcept {
  if (this == last)
    return;
  _List_node_base *before = first->_M_prev, *end = last->_M_prev;
  adgen::chain(_M_prev, first);
  adgen::chain(end, this);
  adgen::chain(before, last);
}

inline void _List_node_base::_M_reverse() noexcept {
  _List_node_base *node = this;
  do {
    _List_node_base *next = node->_M_next;
    node->_M_next = node->_M_prev;
    node->_M_prev = next;
    node = next;
  } while (node != this);
}

inline void _List_node_base::swap(_List_node_base &one, _List_node_base &other) noexcept {
  const _List_node_base first = one;
  one = other;
  other = first;
  adgen::takePlace(one, other);
  adgen::takePlace(other, one);
}

_GLIBCXX_END_NAMESPACE_VERSION
} // namespace __detail
} // namespace std
#endif
