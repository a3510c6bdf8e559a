// SPDX-License-Identifier: Apache-2.0
//
// What blocks turned out to be, by the place they came from: for those of which nothing is known
// themselves. Bounded, whatever a trace claims.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "analyzer/model/attribution/kept_block.h"

namespace memtrace::attribution {

class known_places {
 public:
  void learn(const place_key& where, category what);
  // Replaces a guess or nothing by what most blocks from the same place are. What outlives its call
  // where keys and values are known to be made is of them: a census sees only some.
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
