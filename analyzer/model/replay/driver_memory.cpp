// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/replay/driver_memory.h"

#include <algorithm>
#include <optional>

namespace memtrace::replay {

using format::cuda_effect;

namespace {

// How many releases back an undo may come: other threads' calls lie between.
constexpr std::size_t remembered_releases = 256;
// PyTorch keeps what it has pinned, so that there are few; 32 bytes each.
constexpr std::size_t most_pinned_changes = 1u << 20;
// Holdings visited, where one record concerns many: far more than a program needs, and an end to
// traces that are made to take long.
constexpr std::uint64_t most_visits = 1u << 27;
// More owners than a process has libraries: the rest is one.
constexpr std::size_t most_owners = 128;

[[nodiscard]] std::optional<held_as> kind_of(cuda_effect effect) {
  switch (effect) {
    case cuda_effect::device:
      return held_as::device;
    case cuda_effect::managed:
      return held_as::managed;
    case cuda_effect::pinned:
    case cuda_effect::registered:
      return held_as::pinned;
    case cuda_effect::pool_memory:
      return held_as::pool;
    case cuda_effect::physical:
      return held_as::physical;
    case cuda_effect::array:
      return held_as::array;
    case cuda_effect::module:
      return held_as::module;
    default:
      return std::nullopt;
  }
}

[[nodiscard]] bool is_on_device(held_as as) {
  return as == held_as::device || as == held_as::pool || as == held_as::physical ||
         as == held_as::array;
}

// From half a page up.
[[nodiscard]] bool has_own_pages(std::uint64_t bytes) {
  return bytes >= page_count::page / 2;
}

[[nodiscard]] std::uint64_t round_up(std::uint64_t bytes) {
  const auto pages = bytes / page_count::page + (bytes % page_count::page != 0 ? 1 : 0);
  return pages * page_count::page;
}

}  // namespace

std::uint64_t device_holdings::rounding() const {
  const auto taken = pages.bytes() + array_pages + round_up(small_arrays);
  return taken - std::min(taken, in_pages + arrays);
}

memory_place place_of(std::string_view api) {
  const auto kind = kind_of(format::effect_of(api));
  if (!kind) return memory_place::elsewhere;
  if (*kind == held_as::pinned) return memory_place::pinned_host;
  return is_on_device(*kind) ? memory_place::device : memory_place::elsewhere;
}

void driver_memory::call(const trace::event& head, std::string_view api,
                         const trace::cuda_call_event& call) {
  changes_.clear();
  if (call.error != 0) return;
  const auto effect = format::effect_of(api);
  switch (effect) {
    case cuda_effect::release:
    case cuda_effect::pool_release:
    case cuda_effect::physical_release:
    case cuda_effect::unmap:
    case cuda_effect::array_end:
    case cuda_effect::module_end:
    case cuda_effect::context_end:
    case cuda_effect::device_end:
      return give_back(head, api, effect, call);
    case cuda_effect::physical_retain:
      return physical_.retain(call.address, call.handle);
    case cuda_effect::map:
      return physical_.map(call.address, call.size, call.handle);
    default:
      return get(head, effect, call);
  }
}

void driver_memory::get(const trace::event& head, cuda_effect effect,
                        const trace::cuda_call_event& call) {
  const bool is_borrowed =
      effect == cuda_effect::foreign_physical || effect == cuda_effect::multicast;
  const auto kind = is_borrowed ? held_as::physical : kind_of(effect);
  if (!kind) return;
  cuda_holding held;
  held.bytes = is_borrowed ? 0 : call.size;
  held.device = head.device;
  held.as = *kind;
  held.owner = {call.has_owner, call.has_owner ? call.owner : trace::text_id{}};
  held.site = site_of(call.stack, head.thread);
  constexpr std::uint64_t no_address = std::uint64_t{1} << 63;
  const bool has_address = held.as != held_as::physical && held.as != held_as::array;
  held.id = has_address ? call.address : no_address | ++made_;
  if (held.as == held_as::physical) {
    const auto [made, before] = physical_.create(call.handle, held);
    if (before) settle(*before, head);
    settle(*made, head);
  } else if (held.as == held_as::array) {
    add({space::array, call.handle}, held, head);
  } else if (held.as == held_as::module) {
    add({space::module, call.handle}, held, head);
  } else {
    held.context = held.as == held_as::pool ? 0 : call.handle;
    add({space::address, call.address}, held, head);
  }
}

void driver_memory::give_back(const trace::event& head, std::string_view api, cuda_effect effect,
                              const trace::cuda_call_event& call) {
  release made{effect, call.address, call.handle, {}, {}, {}};
  switch (effect) {
    case cuda_effect::physical_release:
      made.physical = physical_.release(call.handle);
      if (made.physical) settle(*made.physical, head);
      break;
    case cuda_effect::unmap:
      made.unmapped = physical_.unmap(call.address, call.size);
      for (const auto& piece : made.unmapped) settle(*piece.of, head);
      break;
    case cuda_effect::array_end:
      drop({space::array, call.handle}, head, made.holdings);
      break;
    case cuda_effect::module_end:
      drop({space::module, call.handle}, head, made.holdings);
      break;
    case cuda_effect::context_end:
      drop_context(head, api, call.handle, made.holdings);
      break;
    case cuda_effect::device_end:
      drop_all(head, made.holdings,
               [&](const cuda_holding& one) { return one.device == head.device; });
      break;
    default:
      drop({space::address, call.address}, head, made.holdings);
  }
  released_.push_back(std::move(made));
  if (released_.size() > remembered_releases) released_.pop_front();
}

void driver_memory::undo(const trace::event& head, std::string_view api,
                         const trace::cuda_undo_event& failed) {
  changes_.clear();
  const auto effect = format::effect_of(api);
  const auto found = std::find_if(released_.rbegin(), released_.rend(), [&](const release& one) {
    return one.effect == effect && one.address == failed.address &&
           (failed.handle == 0 || one.handle == failed.handle);
  });
  if (found == released_.rend()) return;
  for (const auto& [place, held] : found->holdings) add(place, held, head);
  if (found->physical) {
    physical_.undo_release(found->handle, found->physical);
    settle(*found->physical, head);
  }
  for (const auto& piece : found->unmapped) {
    physical_.undo_unmap(piece);
    settle(*piece.of, head);
  }
  released_.erase(std::next(found).base());
}

void driver_memory::segment(std::uint64_t address, std::uint64_t bytes, bool is_made) {
  if (const auto found = held_.find({space::address, address}); found != held_.end()) {
    return set_in_segments(found->second, is_made);
  }
  physical_.for_each_mapped(address, bytes, [&](physical_object& object) {
    if (object.is_counted) set_in_segments(object.held, is_made);
    return ++visits_ < most_visits;
  });
}

void driver_memory::fell_asleep() {
  if (released_.empty()) return;
  for (const auto& piece : released_.back().unmapped) {
    if (piece.of->is_counted && piece.of->mappings == 0) set_in_segments(piece.of->held, false);
  }
}

void driver_memory::set_in_segments(cuda_holding& held, bool is_in) {
  if (held.in_segments == is_in || !is_on_device(held.as)) return;
  held.in_segments = is_in;
  auto& device = devices_[held.device];
  auto& owner = owner_in(device, held.owner);
  if (is_in) {
    owner.bytes -= held.bytes;
    device.in_segments += held.bytes;
  } else {
    owner.bytes += held.bytes;
    owner.peak = std::max(owner.peak, owner.bytes);
    device.in_segments -= held.bytes;
  }
}

void driver_memory::add(const key& place, const cuda_holding& held, const trace::event& head) {
  const auto [found, is_new] = held_.try_emplace(place, held);
  if (!is_new) {
    if (found->second.bytes == held.bytes) return;
    // The release of what was there is missing.
    went(found->second, place.second, head);
    found->second = held;
  }
  came(held, place.second, head);
}

void driver_memory::drop(const key& place, const trace::event& head, std::vector<ended>& to) {
  const auto found = held_.find(place);
  if (found == held_.end()) return;
  went(found->second, place.second, head);
  to.emplace_back(place, found->second);
  held_.erase(found);
}

// The device's own context is recorded as ended once nobody uses it, without a handle that memory
// names.
void driver_memory::drop_context(const trace::event& head, std::string_view api,
                                 std::uint64_t handle, std::vector<ended>& to) {
  const bool is_primary = format::base_name(api) == "cuDevicePrimaryCtxRelease";
  if (!is_primary && handle == 0) return;
  drop_all(head, to, [&](const cuda_holding& one) {
    return is_primary ? one.context == 0 && one.device == head.device : one.context == handle;
  });
}

template <typename Which>
void driver_memory::drop_all(const trace::event& head, std::vector<ended>& to, Which which) {
  for (auto at = held_.begin(); at != held_.end() && visits_ < most_visits; ++visits_) {
    if (!which(at->second)) {
      ++at;
      continue;
    }
    went(at->second, at->first.second, head);
    to.emplace_back(at->first, at->second);
    at = held_.erase(at);
  }
}

void driver_memory::came(const cuda_holding& held, std::uint64_t address,
                         const trace::event& head) {
  if (held.as == held_as::pinned) return pin(head, held, false);
  auto& device = devices_[held.device];
  if (held.as == held_as::module) device.modules += held.bytes;
  if (held.as == held_as::managed) device.managed += held.bytes;
  if (!is_on_device(held.as)) return;
  count_rounding(device, held, address, true);
  if (held.as == held_as::pool) device.from_pools += held.bytes;
  if (held.in_segments) {
    device.in_segments += held.bytes;
  } else {
    auto& owner = owner_in(device, held.owner);
    owner.bytes += held.bytes;
    owner.peak = std::max(owner.peak, owner.bytes);
  }
  changes_.push_back({held, true});
  device.bytes += held.bytes;
  device.sites.add(held.site, held.bytes);
  if (device.bytes <= device.peak_bytes) return;
  device.peak_bytes = device.bytes;
  device.peak = head;
  device.sites.mark_peak();
}

void driver_memory::went(const cuda_holding& held, std::uint64_t address,
                         const trace::event& head) {
  if (held.as == held_as::pinned) return pin(head, held, true);
  auto& device = devices_[held.device];
  if (held.as == held_as::module) device.modules -= held.bytes;
  if (held.as == held_as::managed) device.managed -= held.bytes;
  if (!is_on_device(held.as)) return;
  count_rounding(device, held, address, false);
  if (held.as == held_as::pool) device.from_pools -= held.bytes;
  if (held.in_segments) {
    device.in_segments -= held.bytes;
  } else {
    owner_in(device, held.owner).bytes -= held.bytes;
  }
  changes_.push_back({held, false});
  device.bytes -= held.bytes;
  device.sites.remove(held.site, held.bytes);
}

void driver_memory::settle(physical_object& object, const trace::event& head) {
  if (object.is_there() == object.is_counted) return;
  object.is_counted = object.is_there();
  object.is_counted ? came(object.held, 0, head) : went(object.held, 0, head);
}

held_bytes& driver_memory::owner_in(device_holdings& device, const owner_id& owner) {
  const auto found = device.owners.find(owner);
  if (found != device.owners.end()) return found->second;
  return device.owners[device.owners.size() < most_owners ? owner : owner_id{}];
}

void driver_memory::count_rounding(device_holdings& device, const cuda_holding& held,
                                   std::uint64_t address, bool more) {
  const auto by = [&](std::uint64_t bytes) { return more ? bytes : ~bytes + 1; };
  if (held.as == held_as::device) {
    more ? device.pages.add(address, held.bytes) : device.pages.remove(address, held.bytes);
    device.in_pages += by(held.bytes);
  } else if (held.as == held_as::array) {
    device.arrays += by(held.bytes);
    if (has_own_pages(held.bytes)) {
      device.array_pages += by(round_up(held.bytes));
    } else {
      device.small_arrays += by(held.bytes);
    }
  }
}

void driver_memory::pin(const trace::event& head, const cuda_holding& held, bool releases) {
  pinned_bytes_ += releases ? 0 - held.bytes : held.bytes;
  pinned_peak_ = std::max(pinned_peak_, pinned_bytes_);
  if (pinned_changes_.size() >= most_pinned_changes) return;
  const auto bytes = static_cast<std::int64_t>(held.bytes);
  pinned_changes_.push_back({head.time_ns, pinned_bytes_, releases ? -bytes : bytes, held.site});
}

const device_holdings* driver_memory::device(std::uint32_t device) const {
  const auto found = devices_.find(device);
  return found == devices_.end() ? nullptr : &found->second;
}

std::uint64_t driver_memory::on_device(std::uint32_t index) const {
  const auto* const found = device(index);
  return found == nullptr ? 0 : found->bytes;
}

}  // namespace memtrace::replay
