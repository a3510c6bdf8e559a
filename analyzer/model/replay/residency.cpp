// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/replay/residency.h"

#include <algorithm>
#include <iterator>

#include "memtrace/cuda_calls.h"

namespace memtrace::replay {

using format::cuda_effect;

namespace {

// How many unmappings back an undo may come: other threads' calls lie between.
constexpr std::size_t remembered = 256;

[[nodiscard]] address_range range_of(std::uint64_t address, std::uint64_t bytes) {
  return {address, address > ~bytes ? ~std::uint64_t{0} : address + bytes};
}

}  // namespace

std::optional<backing_change> backing_calls::of(std::string_view api,
                                                const trace::cuda_call_event& call) {
  if (call.error != 0 || call.address == 0 || call.size == 0) return std::nullopt;
  const auto effect = format::effect_of(api);
  if (effect != cuda_effect::map && effect != cuda_effect::unmap) return std::nullopt;
  return backing_change{range_of(call.address, call.size), effect == cuda_effect::map};
}

void backing_calls::remember(const backing_change& made) {
  if (made.is_backed) return;
  unmapped_.push_back(made.where);
  if (unmapped_.size() > remembered) unmapped_.pop_front();
}

std::optional<backing_change> backing_calls::undone(std::string_view api,
                                                    const trace::cuda_undo_event& failed) const {
  if (unmapped_.empty() || format::effect_of(api) != cuda_effect::unmap) return std::nullopt;
  const auto found = std::find_if(unmapped_.rbegin(), unmapped_.rend(),
                                  [&](const auto& one) { return one.begin == failed.address; });
  if (found == unmapped_.rend()) return std::nullopt;
  return backing_change{*found, true};
}

asleep_ranges::map_type::const_iterator asleep_ranges::first_beyond(std::uint64_t address) const {
  auto at = ranges_.upper_bound(address);
  if (at != ranges_.begin() && std::prev(at)->second > address) --at;
  return at;
}

std::vector<address_range> asleep_ranges::add(address_range one) {
  std::vector<address_range> fresh;
  auto from = one.begin;
  for (auto at = first_beyond(one.begin); at != ranges_.end() && at->first < one.end; ++at) {
    if (from < at->first) fresh.push_back({from, at->first});
    from = at->second;
  }
  if (from < one.end) fresh.push_back({from, one.end});
  for (const auto& gap : fresh) ranges_.emplace(gap.begin, gap.end);
  return fresh;
}

std::vector<address_range> asleep_ranges::remove(address_range one) {
  std::vector<address_range> gone;
  for (auto at = first_beyond(one.begin); at != ranges_.end() && at->first < one.end;) {
    const auto [begin, end] = *at;
    at = ranges_.erase(at);
    gone.push_back({std::max(begin, one.begin), std::min(end, one.end)});
    if (begin < one.begin) ranges_.emplace(begin, one.begin);
    if (end > one.end) ranges_.emplace(one.end, end);
  }
  return gone;
}

std::uint64_t asleep_ranges::bytes_in(address_range one) const {
  std::uint64_t bytes = 0;
  for (auto at = first_beyond(one.begin); at != ranges_.end() && at->first < one.end; ++at) {
    bytes += std::min(at->second, one.end) - std::max(at->first, one.begin);
  }
  return bytes;
}

}  // namespace memtrace::replay
