// SPDX-License-Identifier: Apache-2.0
//
// The syntax tree of a Python source, as tree-sitter's grammar parses it. What does not parse is a
// node `ERROR`, and the rest of the file stands: a program of another version of Python is read as
// far as it goes.
//
//   self.items = []          assignment
//                              left: attribute   "self.items"
//                              right: list       "[]"
//
// Kinds and fields have the grammar's names. Punctuation, keywords and comments are left out, but
// for the operators of a comparison or a calculation.
//
// A program may be as long and as deep as its author likes. Each look at a node counts: a question
// may have so many, and ends with too_many_looks where they are used up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace memtrace::program {

class tree;

struct too_many_looks {};

// A node of a tree, which must outlive it. One of nothing has the kind "", no text and no children,
// so that questions can follow each other without asking first.
class node {
 public:
  node() = default;

  [[nodiscard]] explicit operator bool() const { return tree_ != nullptr; }
  [[nodiscard]] bool operator==(const node& other) const = default;

  [[nodiscard]] std::string_view kind() const;
  [[nodiscard]] bool is(std::string_view kind) const { return this->kind() == kind; }
  [[nodiscard]] bool is_any(std::initializer_list<std::string_view> kinds) const;
  [[nodiscard]] std::string_view text() const;
  // The text on one line: blanks and line ends between words are one blank.
  [[nodiscard]] std::string flat_text() const;
  [[nodiscard]] std::uint32_t line() const;  // of its first letter, from 1
  [[nodiscard]] std::uint32_t last_line() const;
  [[nodiscard]] std::uint32_t begin() const;  // bytes from the start of the source
  [[nodiscard]] std::uint32_t end() const;
  [[nodiscard]] std::uint32_t id() const { return index_; }  // by its place in the text

  [[nodiscard]] node parent() const;
  // The nearest function, lambda, class or comprehension around it; nothing: it is the module's.
  [[nodiscard]] node scope() const;
  [[nodiscard]] node field(std::string_view name) const;
  [[nodiscard]] std::vector<node> all_of_field(std::string_view name) const;
  [[nodiscard]] std::vector<node> children() const;  // operators aside
  [[nodiscard]] node child(std::size_t which) const;
  // Whether it is `other` or in it.
  [[nodiscard]] bool is_in(const node& other) const;
  // All below it and itself, in the order of the text.
  [[nodiscard]] std::vector<node> all() const;

 private:
  friend class tree;
  node(const tree* of, std::uint32_t index) : tree_(of), index_(index) {}
  // Calls takes(entry, child) until it says false.
  template <class Takes>
  void each_child(Takes takes) const;

  const tree* tree_ = nullptr;
  std::uint32_t index_ = 0;
};

class tree {
 public:
  // `source` must outlive the tree.
  explicit tree(std::string_view source);
  tree(const tree&) = delete;
  tree& operator=(const tree&) = delete;

  [[nodiscard]] node root() const;
  // False: it is too long to be read, or no program, and has nothing.
  [[nodiscard]] bool is_read() const { return !entries_.empty(); }
  // Memory that was asked for while it was read.
  [[nodiscard]] std::uint64_t cost() const { return cost_; }

  // From here on there may be so many looks.
  void allow(std::uint64_t looks) const { left_ = looks; }
  [[nodiscard]] std::uint64_t left() const { return left_; }
  void spend(std::uint64_t looks) const {
    if (looks > left_) throw too_many_looks{};
    left_ -= looks;
  }

 private:
  friend class node;
  // In the order of the text, so that what is below one is what follows it, up to `after`.
  struct entry {
    std::uint16_t kind;
    std::uint16_t field;  // of its parent; 0: none
    std::uint32_t begin, end;
    std::uint32_t line;
    std::uint32_t last_line : 31;
    std::uint32_t named : 1;
    std::uint32_t parent;  // the root's is itself
    std::uint32_t scope;   // the root's is 0
    std::uint32_t after;
  };
  void read(std::string_view source);

  std::string_view source_;
  std::vector<entry> entries_;
  std::uint64_t cost_ = 0;
  mutable std::uint64_t left_ = std::numeric_limits<std::uint64_t>::max();
};

// The nearest node around it of one of these kinds; none: there is none.
[[nodiscard]] node around(const node& from, std::initializer_list<std::string_view> kinds);

// Without the parentheses around it.
[[nodiscard]] node unwrapped(node what);

// Whether a subscript is a slice: x[2:], x[:, 2:].
[[nodiscard]] bool is_slice(const node& subscript);
// The parts of x[start:stop], of which any may be left out.
struct slice_parts {
  node start, stop;
};
[[nodiscard]] slice_parts parts_of(const node& subscript);

}  // namespace memtrace::program
