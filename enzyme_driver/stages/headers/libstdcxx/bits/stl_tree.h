// The trees of std::map and std::set: libstdc++ has compiled what takes a node out, whose body is needed to change the
// shadows alike.
#pragma GCC system_header
#include_next <bits/stl_tree.h>
#if __cplusplus >= 201103L && !defined(ADGEN_STL_TREE_H)
#define ADGEN_STL_TREE_H
namespace adgen {

using TreeNode = std::_Rb_tree_node_base;
using TreeSide = TreeNode *TreeNode::*;

// What leads to the node: the root's parent is the header, which keeps the root as its own parent.
inline TreeNode *&linkTo(TreeNode *node, TreeNode &header) noexcept {
  TreeNode *parent = node->_M_parent;
  if (parent == &header)
    return header._M_parent;
  return parent->_M_left == node ? parent->_M_left : parent->_M_right;
}

inline void replaceNode(TreeNode *node, TreeNode *other, TreeNode &header) noexcept {
  linkTo(node, header) = other;
  if (other)
    other->_M_parent = node->_M_parent;
}

inline bool isBlack(const TreeNode *node) noexcept { return !node || node->_M_color == std::_S_black; }

// The node goes down to the near side, and its far child takes its place.
template <TreeSide Near, TreeSide Far>
inline void rotate(TreeNode *node, TreeNode &header) noexcept {
  TreeNode *up = node->*Far;
  node->*Far = up->*Near;
  if (up->*Near)
    (up->*Near)->_M_parent = node;
  replaceNode(node, up, header);
  up->*Near = node;
  node->_M_parent = up;
}

// Below the near side is one black node less than below the far one; whether that is mended, or the same of the parent.
template <TreeSide Near, TreeSide Far>
inline bool mend(TreeNode *parent, TreeNode &header) noexcept {
  TreeNode *sibling = parent->*Far;
  if (!isBlack(sibling)) {
    sibling->_M_color = std::_S_black;
    parent->_M_color = std::_S_red;
    rotate<Near, Far>(parent, header);
    sibling = parent->*Far;
  }
  if (isBlack(sibling->*Near) && isBlack(sibling->*Far)) {
    sibling->_M_color = std::_S_red;
    return false;
  }
  if (isBlack(sibling->*Far)) {
    (sibling->*Near)->_M_color = std::_S_black;
    sibling->_M_color = std::_S_red;
    rotate<Far, Near>(sibling, header);
    sibling = parent->*Far;
  }
  sibling->_M_color = parent->_M_color;
  parent->_M_color = std::_S_black;
  (sibling->*Far)->_M_color = std::_S_black;
  rotate<Near, Far>(parent, header);
  return true;
}

// A black node is missing below the parent where the child stands, which may be none.
inline void balance(TreeNode *child, TreeNode *parent, TreeNode &header) noexcept {
  while (child != header._M_parent && isBlack(child)) {
    bool mended = child == parent->_M_left ? mend<&TreeNode::_M_left, &TreeNode::_M_right>(parent, header)
                                           : mend<&TreeNode::_M_right, &TreeNode::_M_left>(parent, header);
    if (mended)
      return;
    child = parent;
    parent = parent->_M_parent;
  }
  if (child)
    child->_M_color = std::_S_black;
}

inline TreeNode *leftmost(TreeNode *node) noexcept {
  while (node->_M_left)
    node = node->_M_left;
  return node;
}

inline TreeNode *rightmost(TreeNode *node) noexcept {
  while (node->_M_right)
    node = node->_M_right;
  return node;
}

inline void takeOut(TreeNode *node, TreeNode &header) noexcept {
  if (header._M_left == node)
    header._M_left = node->_M_right ? leftmost(node->_M_right) : node->_M_parent;
  if (header._M_right == node)
    header._M_right = node->_M_left ? rightmost(node->_M_left) : node->_M_parent;
  bool black = isBlack(node);
  TreeNode *child = node->_M_left ? node->_M_left : node->_M_right, *parent = node->_M_parent;
  if (node->_M_left && node->_M_right) {
    TreeNode *next = leftmost(node->_M_right);
    black = isBlack(next);
    child = next->_M_right;
    parent = next == node->_M_right ? next : next->_M_parent;
    if (parent != next) {
      replaceNode(next, child, header);
      next->_M_right = node->_M_right;
      next->_M_right->_M_parent = next;
    }
    replaceNode(node, next, header);
    next->_M_left = node->_M_left;
    next->_M_left->_M_parent = next;
    next->_M_color = node->_M_color;
  } else
    replaceNode(node, child, header);
  if (black)
    balance(child, parent, header);
}

} // namespace adgen

namespace std _GLIBCXX_VISIBILITY(default)
{
_GLIBCXX_BEGIN_NAMESPACE_VERSION

inline _Rb_tree_node_base *_Rb_tree_rebalance_for_erase(_Rb_tree_node_base *const node,
                                                        _Rb_tree_node_base &header) throw() {
  adgen::takeOut(node, header);
  return node;
}

_GLIBCXX_END_NAMESPACE_VERSION
} // namespace std
#endif
