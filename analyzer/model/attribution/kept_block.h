// SPDX-License-Identifier: Apache-2.0
//
// The facts of a block that stay after its death, for as long as a moment at which it lived is of
// interest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "analyzer/model/attribution/block_life.h"
#include "analyzer/model/attribution/rules.h"
#include "analyzer/model/replay/site_table.h"

namespace memtrace::attribution {

// Blocks from one place are mostly of one kind: the same call stack (or autograd node and the
// stack it belongs to) in the same module and phase, and about the same size.
struct place_key {
  replay::site_id site;
  trace::stack_id forward;
  trace::text_id node;
  trace::object_id module;
  phase born_in = phase::other;
  bool recomputed = false;
  std::uint8_t size_class = 0;  // bits of its size
  [[nodiscard]] bool operator==(const place_key&) const = default;
};

[[nodiscard]] place_key place_of(const block_life& block);
[[nodiscard]] std::uint64_t hash_of(const place_key& key);

struct kept_block {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;  // resident at the moment for which it is kept
  std::uint64_t asleep = 0;
  std::uint64_t born_event = 0;
  place_key where;
  classification found;
  trace::text_id name;
  trace::text_id detail;
  trace::object_id object;          // as in storage_event: of what was said last
  format::storage_role named_by{};  // 0: no name
  saved_facts saved;
};

[[nodiscard]] kept_block keep(const block_life& block, const classification& found);

// The categories that blocks turned out to have, by the place they came from: for those of which
// nothing is known themselves. Bounded, whatever a trace claims.
class known_places {
 public:
  void learn(const place_key& where, category what);
  // Replaces a guess or nothing by what most blocks from the same place are. What outlives its call
  // where keys and values are known to be made is of them: a heap scan sees only some.
  void improve(kept_block& block) const;

 private:
  struct hasher {
    [[nodiscard]] std::size_t operator()(const place_key& key) const { return hash_of(key); }
  };
  using tally = by_category<std::uint32_t>;

  std::unordered_map<place_key, tally, hasher> known_;
  std::unordered_set<place_key, hasher> caches_;  // of any size: they grow
};

}  // namespace memtrace::attribution
