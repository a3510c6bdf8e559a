// SPDX-License-Identifier: Apache-2.0
#include "interpose/entry/trace_entry.h"

#include <cstring>

namespace memtrace {
namespace {

constexpr std::size_t action_at = 0;
constexpr std::size_t device_at = 4;
constexpr std::size_t address_at = 8;
constexpr std::size_t stream_at = 32;
constexpr std::size_t size_at = 40;
constexpr std::size_t pool_at = 48;

constexpr int last_action = 8;
// Pool ids count up from 1; a time stamp or a pointer in their place is far above.
constexpr std::uint64_t largest_pool_id = 1u << 30;
constexpr std::uint64_t largest_size = std::uint64_t{1} << 48;

template <typename T>
T field(const raw_trace_entry& entry, std::size_t offset) noexcept {
  T value;
  std::memcpy(&value, reinterpret_cast<const unsigned char*>(&entry) + offset, sizeof value);
  return value;
}

}  // namespace

entry_layout recognise_layout(const raw_trace_entry& entry) noexcept {
  const int action = field<int>(entry, action_at);
  if (action < 0 || action > last_action || field<std::int8_t>(entry, device_at) < 0 ||
      field<std::uint64_t>(entry, size_at) > largest_size) {
    return entry_layout::implausible;
  }
  const bool pool = field<std::uint64_t>(entry, pool_at) < largest_pool_id &&
                    field<std::uint64_t>(entry, pool_at + 8) < largest_pool_id;
  return pool ? entry_layout::with_pool : entry_layout::without_pool;
}

allocator_event read_entry(const raw_trace_entry& entry, entry_layout layout) noexcept {
  // TraceEntry::Action and format::kind count in the same order.
  constexpr auto first_kind = static_cast<unsigned>(format::kind::alloc);
  static_assert(first_kind + last_action == static_cast<unsigned>(format::kind::oom));
  allocator_event event;
  event.kind = static_cast<format::kind>(
      first_kind + static_cast<unsigned>(field<int>(entry, action_at)) % (last_action + 1));
  event.device = static_cast<std::uint8_t>(field<std::int8_t>(entry, device_at));
  event.address = field<std::uint64_t>(entry, address_at);
  event.size = field<std::uint64_t>(entry, size_at);
  event.stream = field<std::uint64_t>(entry, stream_at);
  if (layout == entry_layout::with_pool) {
    event.pool = {field<std::uint64_t>(entry, pool_at), field<std::uint64_t>(entry, pool_at + 8)};
  }
  return event;
}

}  // namespace memtrace
