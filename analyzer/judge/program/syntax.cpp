// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/syntax.h"

#include <tree_sitter/api.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

extern "C" const TSLanguage* tree_sitter_python();

namespace memtrace::program {

namespace {

// A trace has no longer file (format::most_source_bytes), nor does somebody write one.
constexpr std::size_t longest_source = 512u << 10;

// What parsing a text has cost so far: the memory that was asked for, and the letters that were read,
// some of them again and again. Programs take 75 bytes of memory for a letter at most, and read each
// three times; a text that is none may take a thousand times of either. Counted rather than timed, so
// that each machine says the same.
struct expense {
  std::uint64_t memory = 0;
  std::uint64_t letters = 0;
  std::uint64_t most_memory = 0;
  std::uint64_t most_letters = 0;
  std::size_t is_too_much = 0;  // tree-sitter looks at it, and ends

  void add(std::uint64_t more_memory, std::uint64_t more_letters) {
    memory += more_memory;
    letters += more_letters;
    if (memory > most_memory || letters > most_letters) is_too_much = 1;
  }
};

thread_local expense* counted = nullptr;

void count_memory(std::size_t bytes) {
  if (counted != nullptr) counted->add(bytes, 0);
}

void* count_and_allocate(std::size_t bytes) {
  count_memory(bytes);
  return std::malloc(bytes);
}
void* count_and_clear(std::size_t count, std::size_t bytes) {
  count_memory(count * bytes);
  return std::calloc(count, bytes);
}
void* count_and_reallocate(void* old, std::size_t bytes) {
  count_memory(bytes);
  return std::realloc(old, bytes);
}

// A part of a text at a time, so that it is seen how often each is read.
const char* read_part(void* text, std::uint32_t at, TSPoint, std::uint32_t* bytes) {
  constexpr std::size_t most = 1024;
  const auto& all = *static_cast<const std::string_view*>(text);
  const auto part = at < all.size() ? all.substr(at, most) : std::string_view("");
  counted->add(0, part.size());
  *bytes = static_cast<std::uint32_t>(part.size());
  return part.data();
}

// The words that the grammar has for kinds and fields, by their numbers.
struct vocabulary {
  std::vector<std::string_view> kinds;
  std::vector<std::string_view> fields;
};

[[nodiscard]] const vocabulary& words() {
  static const vocabulary all = [] {
    vocabulary made;
    ts_set_allocator(&count_and_allocate, &count_and_clear, &count_and_reallocate, &std::free);
    const auto* const language = tree_sitter_python();
    for (std::uint32_t i = 0; i < ts_language_symbol_count(language); ++i) {
      const char* const word = ts_language_symbol_name(language, static_cast<TSSymbol>(i));
      made.kinds.emplace_back(word == nullptr ? "" : word);
    }
    for (std::uint32_t i = 0; i <= ts_language_field_count(language); ++i) {
      const char* const word = ts_language_field_name_for_id(language, static_cast<TSFieldId>(i));
      made.fields.emplace_back(word == nullptr ? "" : word);
    }
    return made;
  }();
  return all;
}

[[nodiscard]] bool is_scope(std::string_view kind) {
  return kind == "function_definition" || kind == "class_definition" || kind == "lambda" ||
         kind == "list_comprehension" || kind == "set_comprehension" ||
         kind == "dictionary_comprehension" || kind == "generator_expression";
}

}  // namespace

std::string_view node::kind() const {
  if (!*this) return "";
  const auto which = tree_->entries_[index_].kind;
  const auto& all = words().kinds;
  return which < all.size() ? all[which] : "ERROR";
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
  if (*this) tree_->spend(text().size());
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
  tree_->spend(1);
  return {tree_, tree_->entries_[index_].parent};
}

node node::scope() const {
  if (!*this || tree_->entries_[index_].scope == 0) return {};
  tree_->spend(1);
  return {tree_, tree_->entries_[index_].scope};
}

template <class Takes>
void node::each_child(Takes takes) const {
  if (!*this) return;
  const auto& all = tree_->entries_;
  for (auto at = index_ + 1; at < all[index_].after; at = all[at].after) {
    tree_->spend(1);
    if (!takes(all[at], node(tree_, at))) return;
  }
}

std::vector<node> node::children() const {
  std::vector<node> made;
  each_child([&](const auto& entry, const node& one) {
    if (entry.named) made.push_back(one);
    return true;
  });
  return made;
}

node node::child(std::size_t which) const {
  node made;
  each_child([&](const auto& entry, const node& one) {
    if (!entry.named || which-- != 0) return true;
    made = one;
    return false;
  });
  return made;
}

std::vector<node> node::all_of_field(std::string_view name) const {
  std::vector<node> made;
  each_child([&](const auto& entry, const node& one) {
    if (entry.field != 0 && words().fields[entry.field] == name) made.push_back(one);
    return true;
  });
  return made;
}

node node::field(std::string_view name) const {
  node made;
  each_child([&](const auto& entry, const node& one) {
    if (entry.field == 0 || words().fields[entry.field] != name) return true;
    made = one;
    return false;
  });
  return made;
}

bool node::is_in(const node& other) const {
  return *this && other && tree_ == other.tree_ && index_ >= other.index_ &&
         index_ < tree_->entries_[other.index_].after;
}

std::vector<node> node::all() const {
  std::vector<node> made;
  if (!*this) return made;
  const auto& all = tree_->entries_;
  tree_->spend(all[index_].after - index_);
  for (auto at = index_; at < all[index_].after; ++at) {
    if (all[at].named) made.push_back({tree_, at});
  }
  return made;
}

tree::tree(std::string_view source) : source_(source) {
  if (source.size() <= longest_source) read(source);
}

void tree::read(std::string_view source) {
  struct deleter {
    void operator()(TSParser* what) const { ts_parser_delete(what); }
    void operator()(TSTree* what) const { ts_tree_delete(what); }
  };
  constexpr std::uint64_t memory_for_a_letter = 128, memory_for_any = 2u << 20;
  constexpr std::uint64_t times_for_a_letter = 16, letters_for_any = 64u << 10;
  const auto& vocabulary = words();
  expense cost;
  cost.most_memory = memory_for_any + memory_for_a_letter * source.size();
  cost.most_letters = letters_for_any + times_for_a_letter * source.size();
  const std::unique_ptr<TSParser, deleter> parser(ts_parser_new());
  if (!ts_parser_set_language(parser.get(), tree_sitter_python())) return;
  ts_parser_set_cancellation_flag(parser.get(), &cost.is_too_much);
  counted = &cost;
  const std::unique_ptr<TSTree, deleter> parsed(
      ts_parser_parse(parser.get(), nullptr, {&source, &read_part, TSInputEncodingUTF8}));
  counted = nullptr;
  cost_ = cost.memory;
  if (parsed == nullptr) return;

  // Without recursion: a hostile source may be as deep as it is long.
  auto cursor = ts_tree_cursor_new(ts_tree_root_node(parsed.get()));
  std::vector<std::uint32_t> open;    // the nodes that the cursor is below of
  std::vector<std::uint32_t> scopes;  // of them
  const auto take = [&] {
    const auto now = ts_tree_cursor_current_node(&cursor);
    const auto next = static_cast<std::uint32_t>(entries_.size());
    const std::string_view kind = ts_node_type(now);
    const auto field = ts_tree_cursor_current_field_id(&cursor);
    const bool named = ts_node_is_named(now) && kind != "comment";
    const bool is_operator = !named && vocabulary.fields[field].starts_with("operator");
    if (!named && !is_operator) return false;
    entries_.push_back({ts_node_symbol(now), field, ts_node_start_byte(now), ts_node_end_byte(now),
                        ts_node_start_point(now).row + 1, ts_node_end_point(now).row + 1, named,
                        open.empty() ? 0 : open.back(), scopes.empty() ? 0 : scopes.back(),
                        next + 1});
    open.push_back(next);
    if (is_scope(kind)) scopes.push_back(next);
    return true;
  };
  const auto close = [&] {
    entries_[open.back()].after = static_cast<std::uint32_t>(entries_.size());
    if (!scopes.empty() && scopes.back() == open.back()) scopes.pop_back();
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
  entries_.shrink_to_fit();
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
