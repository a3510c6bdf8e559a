// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/attribution/kept_block.h"

#include <algorithm>
#include <bit>

namespace memtrace::attribution {

namespace {

constexpr std::size_t most_places = 1u << 20;
constexpr std::string_view propagation = "same_place";

[[nodiscard]] place_key of_any_size(place_key where) {
  where.size_class = 0;
  return where;
}

}  // namespace

place_key place_of(const block_life& block) {
  place_key key;
  key.site = replay::site_of(block.stack, block.thread);
  key.forward = block.scope.forward;
  key.node = block.scope.node;
  key.module = block.scope.module;
  key.born_in = block.born.during;
  key.recomputed = block.born.recompute;
  key.size_class = static_cast<std::uint8_t>(std::bit_width(block.bytes));
  return key;
}

std::uint64_t hash_of(const place_key& key) {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15u;
  std::uint64_t hash = 0;
  const auto mix = [&](std::uint64_t value) {
    hash = (hash ^ value) * odd;
    hash ^= hash >> 29;
  };
  mix(key.site.number | std::uint64_t{key.forward.value} << 32);
  mix(key.node.value | std::uint64_t{key.module.value} << 32);
  mix(static_cast<std::uint64_t>(key.born_in) | std::uint64_t{key.recomputed} << 8 |
      std::uint64_t{key.size_class} << 16 | std::uint64_t{key.site.is_thread} << 24);
  return hash;
}

kept_block keep(const block_life& block, const classification& found) {
  kept_block kept;
  kept.address = block.address;
  kept.bytes = block.bytes;
  kept.born_event = block.born_event;
  kept.where = place_of(block);
  kept.found = found;
  kept.name = block.name;
  kept.detail = block.detail;
  kept.object = block.object;
  kept.named_by = block.named_by;
  kept.saved = block.saved;
  return kept;
}

void known_places::learn(const place_key& where, category what) {
  if (what == category::kv_cache && caches_.size() < most_places) {
    caches_.insert(of_any_size(where));
  }
  const auto found = known_.find(where);
  if (found != known_.end()) {
    ++found->second[what];
  } else if (known_.size() < most_places) {
    known_[where][what] = 1;
  }
}

void known_places::improve(kept_block& block) const {
  const auto what = block.found.what;
  const bool outlived = block.found.how == evidence::inferred &&
                        (what == category::outputs || what == category::collected);
  if (outlived && caches_.contains(of_any_size(block.where))) {
    block.found.what = category::kv_cache;
    block.found.how = evidence::propagated;
    block.found.rule = propagation;
    return;
  }
  if (!block.found.guess) return;
  const auto found = known_.find(block.where);
  if (found == known_.end()) return;
  const auto& tallies = found->second.values;
  const auto most = std::ranges::max_element(tallies);
  block.found.what = static_cast<category>(most - tallies.begin());
  block.found.how = evidence::propagated;
  block.found.rule = propagation;
}

}  // namespace memtrace::attribution
