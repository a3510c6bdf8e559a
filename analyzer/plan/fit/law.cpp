// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/fit/law.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "analyzer/model/allocator/settings.h"

namespace memtrace::fit {

namespace {

using allocator::action;
using allocator::request_log;

constexpr std::uint64_t granule = 2 * allocator::mebibyte;

[[nodiscard]] std::uint64_t outside_of(const request_log& log) {
  return log.usable_bytes != 0 && log.total_bytes > log.usable_bytes
             ? log.total_bytes - log.usable_bytes
             : 0;
}

// On a device with so much memory in all; 0: one that never runs out.
[[nodiscard]] allocator::outcome replay_on(const request_log& log, std::uint64_t total_bytes) {
  auto under = allocator::as_recorded(log);
  under.total_bytes = total_bytes;
  const auto outside = outside_of(log);
  under.usable_bytes = total_bytes == 0 ? 0 : std::max(total_bytes, outside + 1) - outside;
  return allocator::replay(log, under);
}

[[nodiscard]] allocator::request allocation(const request_log& log, std::size_t number) {
  return log.requests[log.allocations[number]];
}

// The value at `wanted` of the line through (from, at_from) and (to, at_to): rounded to the
// nearest, and no less than one byte.
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

const char* name_of(law_kind kind) {
  switch (kind) {
    case law_kind::requests:
      return "requests";
    case law_kind::capacities:
      return "capacities";
    default:
      return "none";
  }
}

void law::add(const probe& ran) {
  if (ran.came != verdict::fits || ran.devices.empty()) return;
  point one;
  for (const auto& device : ran.devices) {
    if (!device.log || !device.log->refused_events.empty()) return;
    one.asked.push_back(device.log);
    one.step_ends.push_back(device.step_ends);
  }
  points_.insert_or_assign(ran.of.batch, std::move(one));
}

// The nearest two, around the batch where there is one on each side.
std::optional<law::neighbours> law::around(std::uint64_t batch) const {
  if (points_.size() < 2) return std::nullopt;
  auto above = points_.lower_bound(batch);
  if (above == points_.begin()) ++above;
  if (above == points_.end()) --above;
  return neighbours{std::prev(above), above};
}

// By log, the allocations that both have; empty: they cannot be laid side by side.
std::vector<std::size_t> law::shared(const neighbours& two) const {
  const auto& below = two.below->second.asked;
  const auto& above = two.above->second.asked;
  if (below.size() != above.size()) return {};
  std::vector<std::size_t> counts;
  for (std::size_t i = 0; i < below.size(); ++i) {
    const auto count = common_allocations(*below[i], *above[i], two.below->second.step_ends[i],
                                          two.above->second.step_ends[i]);
    if (!count) return {};
    counts.push_back(*count);
  }
  return counts;
}

std::vector<request_log> law::made_at(std::uint64_t batch, const neighbours& two,
                                      const std::vector<std::size_t>& counts) const {
  // The order of what is freed is that of the nearer run.
  const auto far_below = batch - std::min(batch, two.below->first);
  const auto far_above = two.above->first - std::min(two.above->first, batch);
  const bool from_above = batch >= two.above->first || far_above <= far_below;
  const auto& [near, other] =
      from_above ? std::pair(two.above, two.below) : std::pair(two.below, two.above);
  std::vector<request_log> made;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    made.push_back(requests_at(*near->second.asked[i], near->first, *other->second.asked[i],
                               other->first, counts[i], batch));
  }
  return made;
}

law_kind law::kind() const {
  if (points_.size() < 2) return law_kind::none;
  const neighbours two{std::prev(std::prev(points_.end())), std::prev(points_.end())};
  return shared(two).empty() ? law_kind::capacities : law_kind::requests;
}

std::uint64_t law::need_of(const point& one) const {
  if (one.need) return *one.need;
  std::uint64_t most = 0;
  for (const auto& log : one.asked) {
    auto under = allocator::as_recorded(*log);
    const auto peak = replay_on(*log, 0).reserved.bytes;
    const auto found = allocator::find_smallest_fit(*log, under, peak + granule, granule);
    most = std::max(most, outside_of(*log) + (found ? found->usable_bytes : peak));
  }
  one.need = most;
  return most;
}

double law::need_at(std::uint64_t batch, const neighbours& two) const {
  const auto low = static_cast<double>(need_of(two.below->second));
  const auto high = static_cast<double>(need_of(two.above->second));
  const auto run = static_cast<double>(two.above->first - two.below->first);
  const auto ahead = static_cast<double>(batch) - static_cast<double>(two.below->first);
  return low + (high - low) * ahead / run;
}

std::optional<bool> law::fits(std::uint64_t batch, std::uint64_t total_bytes) const {
  const auto two = around(batch);
  if (!two) return std::nullopt;
  const auto counts = shared(*two);
  if (counts.empty()) return need_at(batch, *two) <= static_cast<double>(total_bytes);
  return std::ranges::none_of(made_at(batch, *two, counts), [&](const request_log& log) {
    return replay_on(log, total_bytes).out_of_memory.has_value();
  });
}

std::uint64_t law::allocated_at(std::uint64_t batch) const {
  const auto two = around(batch);
  if (!two) return 0;
  const auto counts = shared(*two);
  std::uint64_t most = 0;
  for (const auto& log : made_at(batch, *two, counts)) {
    most = std::max(most, replay_on(log, 0).allocated.bytes);
  }
  return most != 0 ? most : static_cast<std::uint64_t>(std::max(0.0, need_at(batch, *two)));
}

std::optional<law::line> law::line_near(std::uint64_t batch) const {
  if (points_.size() < 2 || batch == 0) return std::nullopt;
  const auto below =
      std::max<std::uint64_t>(1, batch / 2);  // of a nearer one rounding makes the slope
  const auto above = std::max(batch, below + 1);
  const auto low = static_cast<double>(allocated_at(below));
  const auto high = static_cast<double>(allocated_at(above));
  line found;
  found.per_item = (high - low) / static_cast<double>(above - below);
  found.constant = low - found.per_item * static_cast<double>(below);
  return found;
}

bool law::has_room(std::uint64_t batch, std::uint64_t total_bytes) const {
  const auto two = *around(batch);
  const auto counts = shared(two);
  if (counts.empty()) return need_at(batch, two) <= static_cast<double>(total_bytes);
  return std::ranges::none_of(made_at(batch, two, counts), [&](const request_log& log) {
    return replay_on(log, 0).allocated.bytes + outside_of(log) > total_bytes;
  });
}

std::optional<std::uint64_t> law::largest(std::uint64_t total_bytes, std::uint64_t least,
                                          std::uint64_t most, std::uint64_t step) const {
  if (points_.size() < 2) return std::nullopt;
  const auto at = [&](std::uint64_t index) { return least + index * step; };
  // One more than the index of the largest batch that is found to hold, 0: none. Those at powers of
  // two first: what holds for a batch may not hold for one far below, which is told from afar.
  const auto count_of = [&](std::uint64_t count, const auto& holds) {
    std::vector<std::uint64_t> marks{0};
    for (std::uint64_t mark = 1; mark < count; mark *= 2) marks.push_back(mark);
    marks.push_back(count);
    for (std::size_t i = marks.size() - 1; i-- > 0;) {
      auto low = marks[i];
      if (!holds(at(low))) continue;
      for (auto high = marks[i + 1]; high > low + 1;) {
        const auto middle = low + (high - low) / 2;
        (holds(at(middle)) ? low : high) = middle;
      }
      return low + 1;
    }
    return std::uint64_t{0};
  };
  auto count = count_of((most - least) / step + 1,
                        [&](std::uint64_t batch) { return has_room(batch, total_bytes); });
  // Replays of one batch after the other are cheap, but not thousands of large ones.
  const auto requests = points_.rbegin()->second.asked.front()->requests.size();
  auto looks = std::clamp<std::uint64_t>(20'000'000 / (requests + 1), 20, 1000);
  for (; count > 0 && looks > 0; --count, --looks) {
    if (*fits(at(count - 1), total_bytes)) return at(count - 1);
  }
  if (count == 0) return 0;
  count = count_of(count, [&](std::uint64_t batch) { return *fits(batch, total_bytes); });
  return count == 0 ? 0 : at(count - 1);
}

}  // namespace memtrace::fit
