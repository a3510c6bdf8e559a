// SPDX-License-Identifier: Apache-2.0
#include "interpose/door/entry/trace_entry.h"

namespace memtrace {
namespace {

// Pool ids count up from 1; a time stamp or a pointer in their place is far above.
constexpr std::uint64_t largest_pool_id = 1u << 30;
constexpr std::uint64_t largest_size = std::uint64_t{1} << 48;

}  // namespace

entry_layout recognise_layout(const raw_trace_entry& entry) noexcept {
  const int action = detail::field<int>(entry, detail::action_at);
  if (action < 0 || action > detail::last_action ||
      detail::field<std::int8_t>(entry, detail::device_at) < 0 ||
      detail::field<std::uint64_t>(entry, detail::size_at) > largest_size) {
    return entry_layout::implausible;
  }
  const bool pool = detail::field<std::uint64_t>(entry, detail::pool_at) < largest_pool_id &&
                    detail::field<std::uint64_t>(entry, detail::pool_at + 8) < largest_pool_id;
  return pool ? entry_layout::with_pool : entry_layout::without_pool;
}

}  // namespace memtrace
