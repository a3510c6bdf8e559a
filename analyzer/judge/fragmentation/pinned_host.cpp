// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/fragmentation/pinned_host.h"

#include <algorithm>
#include <bit>
#include <map>
#include <span>
#include <tuple>

namespace memtrace::fragmentation {

namespace {

constexpr std::size_t most_sites = 16;

// Buffers from one place and of one size.
using buffer_kind = std::tuple<bool, std::uint32_t, std::uint64_t>;  // site, bytes

[[nodiscard]] std::map<buffer_kind, std::uint64_t> buffers_at_peak(
    std::span<const replay::pinned_change> changes) {
  std::map<buffer_kind, std::uint64_t> live;
  if (changes.empty()) return live;
  const auto peak = std::ranges::max_element(changes, {}, &replay::pinned_change::total);
  for (const auto& change : changes.first(static_cast<std::size_t>(peak - changes.begin()) + 1)) {
    const bool got = change.difference > 0;
    const auto bytes = static_cast<std::uint64_t>(got ? change.difference : -change.difference);
    auto& count = live[{change.site.is_thread, change.site.number, bytes}];
    if (got) {
      ++count;
    } else if (count != 0) {
      --count;
    }
  }
  return live;
}

[[nodiscard]] std::size_t class_of(std::uint64_t bytes) {
  return static_cast<std::size_t>(std::bit_width(bytes - 1));
}

}  // namespace

void host_copies::on_storage(const trace::event&, const trace::storage_event& told) {
  if (told.role != format::storage_role::host_copy || told.bytes < 2) return;
  const auto power = class_of(told.bytes);
  if (power < largest_.size()) largest_[power] = std::max(largest_[power], told.bytes);
}

std::uint64_t host_copies::largest_for(std::uint64_t buffer_bytes) const {
  if (buffer_bytes < 2) return 0;
  const auto power = class_of(buffer_bytes);
  return power < largest_.size() ? largest_[power] : 0;
}

pinned_host look_at_pinned(const replay::driver_memory& driver, const trace::dictionary& names,
                           const host_copies& copies) {
  pinned_host found;
  found.peak = driver.pinned_peak();
  std::map<trace::stack_id, pinned_site> sites;
  std::uint64_t estimated = 0;
  bool known = false;
  for (const auto& [kind, count] : buffers_at_peak(driver.pinned_changes())) {
    const auto& [is_thread, number, bytes] = kind;
    if (count == 0) continue;
    found.buffers += count;
    const auto stack = is_thread ? trace::stack_id{} : trace::stack_id{number};
    auto& site = sites[stack];
    site.bytes += bytes * count;
    site.buffers += count;
    if (!std::has_single_bit(bytes)) continue;
    found.powers_of_two += bytes * count;
    found.rounding_at_most += (bytes - bytes / 2 - (bytes > 1 ? 1 : 0)) * count;
    const auto held = copies.largest_for(bytes);
    if (held == 0) continue;
    known = true;
    estimated += (bytes - std::min(bytes, held)) * count;
  }
  if (known) found.rounding_estimated = estimated;
  for (auto& [stack, site] : sites) {
    site.frames = code::frames_of(names, stack);
    found.sites.push_back(std::move(site));
  }
  std::ranges::stable_sort(found.sites, std::greater(), &pinned_site::bytes);
  if (found.sites.size() > most_sites) found.sites.resize(most_sites);
  return found;
}

}  // namespace memtrace::fragmentation
