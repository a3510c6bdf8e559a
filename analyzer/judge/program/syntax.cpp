// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/syntax.h"

#include <tree_sitter/api.h>

#include <algorithm>
#include <memory>

extern "C" const TSLanguage* tree_sitter_python();

namespace memtrace::program {

std::string_view node::kind() const {
  return *this ? tree_->entries_[index_].kind : "";
}

bool node::is_any(std::initializer_list<std::string_view> kinds) const {
  return std::ranges::find(kinds, kind()) != kinds.end();
}

std::uint32_t node::begin() const {
  return *this ? tree_->entries_[index_].begin : 0;
}
std::uint32_t node::end() const {
  return *this ? tree_->entries_[index_].end : 0;
}
std::uint32_t node::line() const {
  return *this ? tree_->entries_[index_].line : 0;
}
std::uint32_t node::last_line() const {
  return *this ? tree_->entries_[index_].last_line : 0;
}

std::string_view node::text() const {
  return *this ? tree_->source_.substr(begin(), end() - begin()) : std::string_view();
}

std::string node::flat_text() const {
  std::string made;
  bool blank = false;
  for (const char letter : text()) {
    if (letter == ' ' || letter == '\n' || letter == '\r' || letter == '\t' || letter == '\\') {
      blank = !made.empty();
      continue;
    }
    if (blank) made += ' ';
    blank = false;
    made += letter;
  }
  return made;
}

node node::parent() const {
  if (!*this || index_ == 0) return {};
  return {tree_, tree_->entries_[index_].parent};
}

std::vector<node> node::children() const {
  std::vector<node> made;
  if (!*this) return made;
  const auto& all = tree_->entries_;
  for (auto at = index_ + 1; at < all[index_].after; at = all[at].after) {
    if (all[at].named) made.push_back({tree_, at});
  }
  return made;
}

node node::child(std::size_t which) const {
  const auto all = children();
  return which < all.size() ? all[which] : node();
}

std::vector<node> node::all_of_field(std::string_view name) const {
  std::vector<node> made;
  if (!*this) return made;
  const auto& all = tree_->entries_;
  for (auto at = index_ + 1; at < all[index_].after; at = all[at].after) {
    if (all[at].field != nullptr && name == all[at].field) made.push_back({tree_, at});
  }
  return made;
}

node node::field(std::string_view name) const {
  const auto found = all_of_field(name);
  return found.empty() ? node() : found.front();
}

bool node::is_in(const node& other) const {
  return *this && other && tree_ == other.tree_ && index_ >= other.index_ &&
         index_ < tree_->entries_[other.index_].after;
}

std::vector<node> node::all() const {
  std::vector<node> made;
  if (!*this) return made;
  const auto& all = tree_->entries_;
  for (auto at = index_; at < all[index_].after; ++at) {
    if (all[at].named) made.push_back({tree_, at});
  }
  return made;
}

tree::tree(std::string_view source) : source_(source) {
  struct deleter {
    void operator()(TSParser* what) const { ts_parser_delete(what); }
    void operator()(TSTree* what) const { ts_tree_delete(what); }
  };
  const std::unique_ptr<TSParser, deleter> parser(ts_parser_new());
  if (!ts_parser_set_language(parser.get(), tree_sitter_python())) return;
  const std::unique_ptr<TSTree, deleter> parsed(ts_parser_parse_string(
      parser.get(), nullptr, source.data(), static_cast<std::uint32_t>(source.size())));
  if (parsed == nullptr) return;

  // Without recursion: a hostile source may be as deep as it is long.
  auto cursor = ts_tree_cursor_new(ts_tree_root_node(parsed.get()));
  std::vector<std::uint32_t> open;  // the nodes that the cursor is below of
  const auto take = [&] {
    const auto now = ts_tree_cursor_current_node(&cursor);
    const auto next = static_cast<std::uint32_t>(entries_.size());
    const char* const kind = ts_node_type(now);
    const char* const field = ts_tree_cursor_current_field_name(&cursor);
    const bool named = ts_node_is_named(now) && std::string_view(kind) != "comment";
    const bool is_operator =
        !named && field != nullptr && std::string_view(field).substr(0, 8) == "operator";
    if (!named && !is_operator) return false;
    entries_.push_back({kind, field, ts_node_start_byte(now), ts_node_end_byte(now),
                        ts_node_start_point(now).row + 1, ts_node_end_point(now).row + 1,
                        open.empty() ? 0 : open.back(), next + 1, named});
    open.push_back(next);
    return true;
  };
  const auto close = [&] {
    entries_[open.back()].after = static_cast<std::uint32_t>(entries_.size());
    open.pop_back();
  };
  std::vector<bool> taken{take()};
  while (!taken.empty()) {
    if (taken.back() && ts_tree_cursor_goto_first_child(&cursor)) {
      taken.push_back(take());
      continue;
    }
    for (;;) {
      if (taken.back()) close();
      taken.pop_back();
      if (taken.empty()) break;
      if (ts_tree_cursor_goto_next_sibling(&cursor)) {
        taken.push_back(take());
        break;
      }
      ts_tree_cursor_goto_parent(&cursor);
    }
  }
  ts_tree_cursor_delete(&cursor);
}

node tree::root() const {
  return entries_.empty() ? node() : node(this, 0);
}

node around(const node& from, std::initializer_list<std::string_view> kinds) {
  for (auto at = from.parent(); at; at = at.parent()) {
    if (at.is_any(kinds)) return at;
  }
  return {};
}

node unwrapped(node what) {
  while (what.is("parenthesized_expression")) what = what.child(0);
  return what;
}

bool is_slice(const node& subscript) {
  return std::ranges::any_of(subscript.all_of_field("subscript"),
                             [](const node& one) { return one.is("slice"); });
}

slice_parts parts_of(const node& subscript) {
  slice_parts made;
  const auto slice = subscript.field("subscript");
  if (!slice.is("slice")) return made;
  const auto text = slice.text();
  const auto colon = text.find(':');
  for (const auto& one : slice.children()) {
    (one.begin() < slice.begin() + colon ? made.start : made.stop) = one;
  }
  return made;
}

}  // namespace memtrace::program
