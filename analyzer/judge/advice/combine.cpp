// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/advice/combine.h"

#include <algorithm>
#include <set>
#include <string>

namespace memtrace::advice {

namespace {

// One at a time is tried beside the ones before; a replay each.
constexpr std::size_t most_tried = 10;

[[nodiscard]] std::vector<const proposal*> in_order(std::vector<const proposal*> all) {
  std::stable_partition(all.begin(), all.end(),
                        [](const proposal* what) { return !what->after_sizes; });
  return all;
}

}  // namespace

std::optional<combination> combine(const std::vector<piece>& ranked, const prover& by) {
  std::vector<const proposal*> together;
  std::set<std::string> groups;
  bool options_chosen = false;
  std::uint64_t left = by.peak_before();
  std::size_t tried = 0;
  for (const auto& one : ranked) {
    const auto& what = one.what;
    if (!one.replayed || one.saves_bytes <= 0 || tried == most_tried) continue;
    if (what.changes_results) continue;  // not beside others: it is another training
    if (!what.group.empty() && groups.contains(what.group)) continue;
    if (what.options && options_chosen) continue;
    ++tried;
    together.push_back(&what);
    const auto peak = by.peak_with(in_order(together), false);
    if (!peak || *peak + by.least_saving() > left) {
      together.pop_back();
      continue;
    }
    left = *peak;
    groups.insert(what.group);
    options_chosen = options_chosen || what.options.has_value();
  }
  if (together.size() < 2) return std::nullopt;
  const auto peak = by.peak_with(in_order(together), true);
  if (!peak) return std::nullopt;
  combination made;
  for (const auto* const what : together) {
    made.ids.push_back(what->id);
    made.device = what->device.value_or(0);
    if (what->how == proof::estimated) made.how = proof::estimated;
  }
  made.peak_reserved = *peak;
  made.saves_bytes = static_cast<std::int64_t>(by.peak_before() - *peak);
  return made;
}

}  // namespace memtrace::advice
