// SPDX-License-Identifier: Apache-2.0
#include "analyzer/replay/driver_memory.h"

#include <algorithm>
#include <array>

namespace memtrace::replay {

namespace {

struct api_place {
  std::string_view prefix;  // the name without _v2, _ptsz and the like
  memory_place place;
};

// Longer names before their prefixes. Releases are found by address, whatever their name.
constexpr std::array apis = {
    api_place{"cudaMallocHost", memory_place::pinned_host},
    api_place{"cudaMallocArray", memory_place::elsewhere},
    api_place{"cudaMalloc", memory_place::device},
    api_place{"cudaHostAlloc", memory_place::pinned_host},
    api_place{"cudaHostRegister", memory_place::pinned_host},
    api_place{"cuMemAllocHost", memory_place::pinned_host},
    api_place{"cuMemAlloc", memory_place::device},
    api_place{"cuMemCreate", memory_place::device},
    api_place{"cuMemHostAlloc", memory_place::pinned_host},
    api_place{"cuMemHostRegister", memory_place::pinned_host},
};

// How many releases back an undo may come: other threads' calls lie between.
constexpr std::size_t remembered_releases = 256;
// PyTorch keeps what it has pinned, so that there are few; 32 bytes each.
constexpr std::size_t most_pinned_changes = 1u << 20;

[[nodiscard]] bool goes_by_handle(std::string_view api) {
  return api.starts_with("cuMemCreate") || api.starts_with("cuMemRelease");
}

}  // namespace

memory_place place_of(std::string_view api) {
  const auto found = std::ranges::find_if(
      apis, [&](const api_place& known) { return api.starts_with(known.prefix); });
  return found == apis.end() ? memory_place::elsewhere : found->place;
}

void driver_memory::call(const trace::event& head, std::string_view api,
                         const trace::cuda_call_event& call) {
  if (call.error != 0) return;
  const bool by_handle = goes_by_handle(api);
  const key place{by_handle, by_handle ? call.handle : call.address};
  if (call.release) {
    drop(place, head);
  } else if (const auto where = place_of(api); where != memory_place::elsewhere) {
    add(place, {call.size, head.device, where, site_of(call.stack, head.thread)}, head);
  }
}

void driver_memory::undo(const trace::event& head, std::string_view api,
                         const trace::cuda_undo_event& failed_release) {
  const key place{goes_by_handle(api), failed_release.address};
  const auto found = std::ranges::find(released_.rbegin(), released_.rend(), place,
                                       &std::pair<key, holding>::first);
  if (found != released_.rend()) add(place, found->second, head);
}

void driver_memory::add(const key& place, const holding& held, const trace::event& head) {
  if (!held_.emplace(place, held).second) return;
  if (held.place == memory_place::device) {
    auto& device = devices_[held.device];
    device.bytes += held.bytes;
    device.sites.add(held.site, held.bytes);
    if (device.bytes <= device.peak_bytes) return;
    device.peak_bytes = device.bytes;
    device.peak = head;
    device.sites.mark_peak();
  } else {
    pin(head, held, false);
  }
}

void driver_memory::pin(const trace::event& head, const holding& held, bool releases) {
  pinned_bytes_ += releases ? 0 - held.bytes : held.bytes;
  pinned_peak_ = std::max(pinned_peak_, pinned_bytes_);
  if (pinned_changes_.size() >= most_pinned_changes) return;
  const auto bytes = static_cast<std::int64_t>(held.bytes);
  pinned_changes_.push_back({head.time_ns, pinned_bytes_, releases ? -bytes : bytes, held.site});
}

void driver_memory::drop(const key& place, const trace::event& head) {
  const auto found = held_.find(place);
  if (found == held_.end()) return;
  const auto held = found->second;
  held_.erase(found);
  if (held.place == memory_place::device) {
    auto& device = devices_[held.device];
    device.bytes -= held.bytes;
    device.sites.remove(held.site, held.bytes);
  } else {
    pin(head, held, true);
  }
  released_.emplace_back(place, held);
  if (released_.size() > remembered_releases) released_.pop_front();
}

const direct_memory* driver_memory::device(std::uint32_t device) const {
  const auto found = devices_.find(device);
  return found == devices_.end() ? nullptr : &found->second;
}

std::uint64_t driver_memory::on_device(std::uint32_t index) const {
  const auto* const found = device(index);
  return found == nullptr ? 0 : found->bytes;
}

}  // namespace memtrace::replay
