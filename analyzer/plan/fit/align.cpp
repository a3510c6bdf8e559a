// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/fit/align.h"

#include <algorithm>

namespace memtrace::fit {

namespace {

using allocator::action;
using allocator::request_log;

[[nodiscard]] allocator::request allocation(const request_log& log, std::size_t number) {
  return log.requests[log.allocations[number]];
}

// Of the line through (from, at_from) and (to, at_to), at `wanted`: rounded to the nearest, and no
// less than one byte.
[[nodiscard]] std::uint64_t on_line(std::uint64_t from, std::uint64_t at_from, std::uint64_t to,
                                    std::uint64_t at_to, std::uint64_t wanted) {
  if (at_from == at_to) return at_from;
  // All of it is far below 2^62: sizes are below 2^48, batches below 2^21.
  const auto run = static_cast<std::int64_t>(to - from);
  const auto rise = static_cast<std::int64_t>(at_to - at_from);
  const auto ahead = static_cast<std::int64_t>(wanted - from);
  const auto rest = (rise % run) * ahead;
  const auto half = (run < 0 ? -run : run) / 2 * ((rest >= 0) ? 1 : -1);
  const auto size = static_cast<std::int64_t>(at_from) + rise / run * ahead + (rest + half) / run;
  return size < 1 ? 1 : static_cast<std::uint64_t>(size);
}

}  // namespace

std::optional<std::size_t> common_allocations(const request_log& one, const request_log& other,
                                              const std::vector<std::size_t>& step_ends,
                                              const std::vector<std::size_t>& other_step_ends) {
  const auto steps = std::min(step_ends.size(), other_step_ends.size());
  if (steps == 0 && one.blocks() != other.blocks()) return std::nullopt;
  const auto count = std::min(one.blocks(), other.blocks());
  for (std::size_t i = 0; i < count; ++i) {
    const auto a = allocation(one, i);
    const auto b = allocation(other, i);
    if (a.stream != b.stream || a.pool != b.pool) return std::nullopt;
  }
  // Runs are ended after different numbers of steps: the longer one may be twice as long.
  if (2 * count < std::max(one.blocks(), other.blocks())) return std::nullopt;
  return count;
}

bool ask_the_same(const request_log& one, const request_log& other) {
  const auto count = std::min(one.blocks(), other.blocks());
  for (std::size_t i = 0; i < count; ++i) {
    if (allocation(one, i).size != allocation(other, i).size) return false;
  }
  return true;
}

request_log requests_at(const request_log& skeleton, std::uint64_t skeleton_batch,
                        const request_log& other, std::uint64_t other_batch,
                        std::size_t allocations, std::uint64_t wanted) {
  request_log made;
  made.device = skeleton.device;
  made.torch_version = skeleton.torch_version;
  made.settings_text = skeleton.settings_text;
  made.options = skeleton.options;
  made.total_bytes = skeleton.total_bytes;
  made.usable_bytes = skeleton.usable_bytes;
  made.streams = skeleton.streams;
  made.pools = skeleton.pools;
  made.texts = skeleton.texts;
  made.doubts = skeleton.doubts;
  made.allocations.assign(skeleton.allocations.begin(),
                          skeleton.allocations.begin() + static_cast<std::ptrdiff_t>(allocations));
  made.addresses.assign(allocations, 1);  // none was refused
  const std::size_t end = allocations < skeleton.blocks() ? skeleton.allocations[allocations]
                                                          : skeleton.requests.size();
  made.requests.reserve(end);
  for (std::size_t i = 0; i < end; ++i) {
    auto asked = skeleton.requests[i];
    if (asked.what() == action::allocate) {
      asked.size = on_line(skeleton_batch, asked.size, other_batch,
                           allocation(other, asked.block).size, wanted);
    }
    made.requests.push_back(asked);
  }
  return made;
}

}  // namespace memtrace::fit
