// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/verdict_maker.h"

#include <algorithm>
#include <utility>

#include "analyzer/base/statistics/steps_to_oom.h"
#include "memtrace/gpu_models.h"

namespace memtrace::verdicts {

std::uint64_t verdict_maker::capacity_of(std::uint32_t index) const {
  const auto* const device = replayed.device(index);
  if (device == nullptr) return 0;
  const auto& facts = device->facts;
  const auto bytes =
      facts.free_before_first_segment != 0 ? facts.free_before_first_segment : facts.total_bytes;
  const auto from_driver = replayed.driver().on_device(index);
  const auto reserved = device->allocator.totals().reserved;
  return bytes - std::min(bytes, from_driver - std::min(from_driver, reserved));
}

verdict verdict_maker::make(subject about, growth::judgement found,
                            const thinned_series* shown) const {
  verdict made;
  made.about = std::move(about);
  made.bytes_per_step = found.bytes_per_step;
  made.found = std::move(found);
  if (shown != nullptr) made.series = shown->shown();
  made.unit = unit;
  return made;
}

namespace {

// Whichever comes first: no more bytes, or no more segments, where the blocks that stay leave free
// parts beside them that nothing fits into.
class countdown {
 public:
  countdown(double bytes_per_step, const device_series& whole)
      : bytes_per_step_(bytes_per_step),
        whole_(whole),
        segments_(growth::judge(whole.occupied.values)) {}

  [[nodiscard]] std::optional<std::uint64_t> steps(std::uint64_t capacity) const {
    const auto needed = static_cast<double>(whole_.most_above_least);
    const auto by_bytes = growth::steps_to_oom(
        bytes_per_step_, {capacity, static_cast<double>(whole_.last_least), needed});
    if (!by_bytes || !growth::is_leak(segments_.shape) ||
        segments_.bytes_per_step <= bytes_per_step_) {
      return by_bytes;
    }
    const auto by_segments = growth::steps_to_oom(
        segments_.bytes_per_step, {capacity, static_cast<double>(whole_.last_occupied), needed});
    return std::min(*by_bytes, by_segments.value_or(*by_bytes));
  }

 private:
  double bytes_per_step_;
  const device_series& whole_;
  growth::judgement segments_;
};

}  // namespace

void verdict_maker::say_when(verdict& made, const device_series& whole,
                             const step_clock& clock) const {
  const auto capacity = capacity_of(made.about.device);
  const countdown until(made.bytes_per_step, whole);
  made.steps_to_oom = until.steps(capacity);
  if (!made.steps_to_oom) return;
  const auto step_ns = clock.ns_per_step();
  constexpr double longest = 9e18;
  if (step_ns > 0) {
    made.ns_to_oom = static_cast<std::uint64_t>(
        std::min(static_cast<double>(*made.steps_to_oom) * step_ns, longest));
  }
  const auto* const device = replayed.device(made.about.device);
  const auto total = device == nullptr ? capacity : device->facts.total_bytes;
  const auto outside = total - std::min(total, capacity);
  for (const auto& model : known_gpus) {
    const auto usable = model.total_bytes - std::min(model.total_bytes, outside);
    made.elsewhere.push_back({std::string(model.key), model.total_bytes,
                              usable == 0 ? 0 : until.steps(usable).value_or(0)});
  }
}

bool is_negligible(double bytes_per_step, std::uint64_t capacity) {
  constexpr double steps = 10'000;
  constexpr double least = 1048576;
  constexpr double share = 0.0005;
  return bytes_per_step * steps < std::max(least, share * static_cast<double>(capacity));
}

}  // namespace memtrace::verdicts
