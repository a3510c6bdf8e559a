// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/attribution/block_life.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "analyzer/model/attribution/rules.h"

namespace memtrace::attribution {

namespace {

using format::storage_role;

// The meanings of words of a name.
constexpr std::uint32_t both = 1;   // keys and values
constexpr std::uint32_t one = 2;    // keys, or values
constexpr std::uint32_t kept = 4;   // from before
constexpr std::uint32_t pages = 8;  //
constexpr std::uint32_t pool = 16;

struct known_word {
  std::string_view text;
  std::uint32_t says;
};
constexpr std::array known_words = {
    known_word{"kv", both},
    known_word{"kvs", both},
    known_word{"k", one},
    known_word{"v", one},
    known_word{"key", one},
    known_word{"keys", one},
    known_word{"value", one},
    known_word{"values", one},
    known_word{"cache", kept | pool},
    known_word{"caches", kept | pool},
    known_word{"cached", kept},
    known_word{"past", kept},
    known_word{"pool", kept | pool},
    known_word{"pools", kept | pool},
    known_word{"page", pages},
    known_word{"pages", pages},
    known_word{"paged", pages},
};

[[nodiscard]] std::uint32_t meaning_of(std::string_view word) {
  const auto* const found = std::ranges::find(known_words, word, &known_word::text);
  return found == known_words.end() ? 0 : found->says;
}

[[nodiscard]] bool is_letter(char sign) {
  return (sign >= 'a' && sign <= 'z') || (sign >= 'A' && sign <= 'Z');
}

// Which of several roles names a block; 0: none does.
[[nodiscard]] int naming_rank(storage_role role) {
  switch (role) {
    case storage_role::user:
      return 8;
    case storage_role::parameter:
      return 7;
    case storage_role::copy:
      return 6;
    case storage_role::buffer:
      return 5;
    case storage_role::leaf_gradient:  // knows the leaf, and so the model
      return 4;
    case storage_role::gradient:
      return 3;
    case storage_role::optimizer_state:
      return 2;
    case storage_role::workspace:
    case storage_role::cast:
      return 1;
    default:
      return 0;
  }
}

void name_by(block_life& block, const trace::storage_event& record, const block_life* leaf) {
  const auto rank = naming_rank(record.role);
  const auto before = naming_rank(block.named_by);
  if (rank == 0 || rank < before) return;
  // The first of several parameters that share a storage names it, until another root does.
  const bool shares =
      rank == before && record.role == storage_role::parameter && record.object == block.object;
  if (shares) {
    block.role_flags |= record.flags;
    return;
  }
  if (names_a_leaf(record.role)) {
    if (leaf == nullptr || leaf->named_by != storage_role::parameter) return;
    block.name = leaf->name;
    block.object = leaf->object;
  } else {
    if (!record.name) return;
    block.name = record.name;
    block.detail = record.detail;
    block.object = record.object;
  }
  block.named_by = record.role;
  block.role_flags = names_a_leaf(record.role) ? leaf->role_flags : record.flags;
}

// Computed by a model, and no parameter: checkpointing detaches it and lets backward end there.
[[nodiscard]] bool is_intermediate(const block_life* leaf) {
  return leaf != nullptr && !made_by_program(*leaf) && !leaf->has(storage_role::parameter) &&
         !leaf->has(storage_role::copy) && (leaf->roles & gathered_parameter) == 0;
}

}  // namespace

bool names_keys_and_values(std::string_view path) {
  constexpr std::size_t longest = 4096;  // a path that is longer was not written by a person
  path = path.substr(0, longest);
  std::uint32_t name = 0;   // what the name says so far that is being read
  std::uint32_t whole = 0;  // the path
  std::size_t start = 0;
  for (std::size_t at = 0; at <= path.size(); ++at) {
    const char sign = at < path.size() ? path[at] : '.';
    if (is_letter(sign)) continue;
    name |= meaning_of(path.substr(start, at - start));
    start = at + 1;
    if (sign == '_') continue;
    if ((name & both) != 0 || ((name & one) != 0 && (name & kept) != 0)) return true;
    whole |= name;
    name = 0;
  }
  return (whole & pages) != 0 && (whole & pool) != 0;
}

bool names_a_leaf(storage_role role) {
  return role == storage_role::leaf_gradient || role == storage_role::cast;
}

void annotate(block_life& block, const trace::storage_event& record, const block_life* leaf,
              const trace::dictionary& names) {
  const bool by_program = (record.flags & (format::held_graph | format::held_gradient)) == 0;
  if (record.role == storage_role::held) {  // says what keeps it alive, not what it is
    if (by_program && names_keys_and_values(names[record.name])) block.roles |= named_as_cache;
    return;
  }
  if (record.role == storage_role::buffer && names_keys_and_values(names[record.name])) {
    block.roles |= named_as_cache;
  }
  if (record.role == storage_role::leaf_gradient && leaf != nullptr &&
      (leaf->roles & received_by_stage) != 0) {
    block.roles |= gradient_to_send;
    return;
  }
  if (record.role == storage_role::leaf_gradient && is_intermediate(leaf)) {
    block.roles |= gradient_of_intermediate;
    return;
  }
  block.roles |= bit_of(record.role);
  if (record.role == storage_role::user) {
    block.annotated_as = category_named(names[record.detail]).value_or(category::other);
  }
  name_by(block, record, leaf);
}

void annotate(block_life& block, const trace::saved_event& record, const pass_counts& now) {
  auto& saved = block.saved;
  if (saved.times == 0 || (saved.dimensions < 3 && record.dimensions >= 3)) {
    saved.bytes = record.bytes;
    saved.rows = record.rows;
    saved.columns = record.columns;
    saved.scalar_type = record.scalar_type;
    saved.dimensions = record.dimensions;
  }
  saved.always = saved.times == 0 ? record.flags : saved.always & record.flags;
  saved.ever |= record.flags;
  saved.backwards_ended = now.backwards_ended;
  ++saved.times;
}

}  // namespace memtrace::attribution
