// SPDX-License-Identifier: Apache-2.0
//
// PyTorch's TraceEntry, read by offsets: we do not compile against torch.
//
//   offset  0 action (int)   4 device (int8; in 2.4 an int)   8 address   32 stream   40 size
//          48 pool id (two words), 64 time                    from 2.8 at the latest
//          48 time, 56 a std::string                          2.4.1, 2.6.0: see pool_choice.h
// (read in 2.4.1, 2.6.0, 2.8.0, 2.11.0 and 2.15.0 on x86-64). Which of the two it is shows in the
// first entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "interpose/ground/recorder/events.h"

namespace memtrace {

// Only ever seen by reference.
struct raw_trace_entry;

namespace detail {

inline constexpr std::size_t action_at = 0;
inline constexpr std::size_t device_at = 4;
inline constexpr std::size_t address_at = 8;
inline constexpr std::size_t stream_at = 32;
inline constexpr std::size_t size_at = 40;
inline constexpr std::size_t pool_at = 48;
inline constexpr int last_action = 8;

template <typename T>
[[nodiscard]] inline T field(const raw_trace_entry& entry, std::size_t offset) noexcept {
  T value;
  std::memcpy(&value, reinterpret_cast<const unsigned char*>(&entry) + offset, sizeof value);
  return value;
}

}  // namespace detail

enum class entry_layout : std::uint8_t { unknown, without_pool, with_pool, implausible };

// Decides by the content of an entry.
[[nodiscard]] entry_layout recognise_layout(const raw_trace_entry& entry) noexcept;

// TraceEntry::Action and format::kind count in the same order.
[[nodiscard]] inline format::kind kind_of(const raw_trace_entry& entry) noexcept {
  constexpr auto first_kind = static_cast<unsigned>(format::kind::alloc);
  static_assert(first_kind + detail::last_action == static_cast<unsigned>(format::kind::oom));
  const auto action = static_cast<unsigned>(detail::field<int>(entry, detail::action_at));
  return static_cast<format::kind>(first_kind + action % (detail::last_action + 1));
}

// All fields but the stack and the scope, which stay as they are. The layout must be one of the
// two.
inline void read_entry(const raw_trace_entry& entry, entry_layout layout,
                       allocator_event& into) noexcept {
  using namespace detail;
  into.kind = kind_of(entry);
  into.device = static_cast<std::uint8_t>(field<std::int8_t>(entry, device_at));
  into.address = field<std::uint64_t>(entry, address_at);
  into.size = field<std::uint64_t>(entry, size_at);
  into.stream = field<std::uint64_t>(entry, stream_at);
  into.pool = layout == entry_layout::with_pool
                  ? pool_id{field<std::uint64_t>(entry, pool_at),
                            field<std::uint64_t>(entry, pool_at + sizeof(std::uint64_t))}
                  : pool_id{};
}

}  // namespace memtrace
