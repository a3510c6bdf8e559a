// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/attribution/known_places.h"

#include <algorithm>

namespace memtrace::attribution {

namespace {

constexpr std::size_t most_places = 1u << 20;
constexpr std::string_view propagation = "same_place";

[[nodiscard]] place_key of_any_size(place_key where) {
  where.size_class = 0;
  return where;
}

}  // namespace

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
