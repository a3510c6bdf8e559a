// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/replay/physical_memory.h"

#include <algorithm>
#include <utility>

namespace memtrace::replay {

physical_memory::created physical_memory::create(std::uint64_t handle, const cuda_holding& held) {
  auto made = std::make_shared<physical_object>();
  made->held = held;
  made->releases = 1;
  auto before = std::exchange(by_handle_[handle], made);
  if (before) before->releases = 0;
  return {std::move(made), std::move(before)};
}

void physical_memory::map(std::uint64_t address, std::uint64_t bytes, std::uint64_t handle) {
  const auto found = by_handle_.find(handle);
  if (found == by_handle_.end() || bytes == 0) return;
  insert({address, end_of(address, bytes), found->second});
}

void physical_memory::insert(const piece& made) {
  ++made.of->mappings;
  const auto [place, is_new] = pieces_.try_emplace(made.begin, made);
  if (is_new) return;
  // The mapping that was there before was undone without a record.
  --place->second.of->mappings;
  place->second = made;
}

void physical_memory::retain(std::uint64_t address, std::uint64_t handle) {
  const auto at = first_beyond(address);
  if (at == pieces_.end() || at->first > address) return;
  ++at->second.of->releases;
  by_handle_[handle] = at->second.of;
}

physical_memory::object physical_memory::release(std::uint64_t handle) {
  const auto found = by_handle_.find(handle);
  if (found == by_handle_.end()) return nullptr;
  auto released = found->second;
  if (released->releases != 0) --released->releases;
  if (released->releases == 0) by_handle_.erase(found);
  return released;
}

void physical_memory::undo_release(std::uint64_t handle, const object& released) {
  ++released->releases;
  by_handle_.try_emplace(handle, released);
}

physical_memory::map_type::iterator physical_memory::first_beyond(std::uint64_t address) {
  auto at = pieces_.upper_bound(address);
  if (at != pieces_.begin() && std::prev(at)->second.end > address) --at;
  return at;
}

std::vector<physical_memory::piece> physical_memory::unmap(std::uint64_t address,
                                                           std::uint64_t bytes) {
  const auto end = end_of(address, bytes);
  std::vector<piece> unmapped;
  for (auto at = first_beyond(address); at != pieces_.end() && at->first < end;) {
    const piece whole = at->second;
    at = pieces_.erase(at);
    --whole.of->mappings;
    unmapped.push_back({std::max(whole.begin, address), std::min(whole.end, end), whole.of});
    if (whole.begin < address) insert({whole.begin, address, whole.of});
    if (whole.end > end) insert({end, whole.end, whole.of});
  }
  return unmapped;
}

}  // namespace memtrace::replay
