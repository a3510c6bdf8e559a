// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/device_verdict.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analyzer/base/text/units.h"
#include "analyzer/judge/verdicts/program/unsettled.h"

namespace memtrace::verdicts {

namespace {

// No call site leaks: whatever grows is bounded by what the sites that grew most look like.
void call_it_bounded(growth::judgement& found, growth::shape largest) {
  found.shape = largest == growth::shape::steady || largest == growth::shape::unknown
                    ? growth::shape::warmup_plateau
                    : largest;
  found.bytes_per_step = found.bytes_per_step_low = found.bytes_per_step_high = 0;
  found.negligible = false;
}

// In the later half of the run it rose in nearly every step, and hardly ever fell. Larger inputs
// now and then do not do that.
[[nodiscard]] bool rises_to_the_end(const growth::series& values) {
  constexpr double nearly = 0.9;
  constexpr double hardly = 0.05;
  const auto& windows = values.windows();
  growth::window later;
  for (auto i = windows.size() / 2; i < windows.size(); ++i) {
    later.up += windows[i].up;
    later.down += windows[i].down;
    later.rises += windows[i].rises;
    later.steps += windows[i].steps;
  }
  return later.rises >= nearly * later.steps && later.down <= hardly * later.up;
}

// No call site leaks and yet there is more in each step: what each step makes anew gets larger, as
// where hooks are registered again that keep one output each.
void call_it_open(growth::judgement& found) {
  found.shape = growth::shape::unknown;
  found.bytes_per_step = found.bytes_per_step_low = found.bytes_per_step_high = 0;
  found.confidence = 0;
  found.negligible = false;
  found.more_steps_needed = steps_that_tell - found.evidence.steps;
}

[[nodiscard]] std::string open_summary(const verdict& made, double bytes_per_step) {
  return fmt::format(
      "GPU {} needs more in nearly every {}, {} on average, up to the last, and at no call site "
      "does what stays grow. Whether it goes on is not settled; about {} more {}s would tell",
      made.about.device, made.unit,
      text::format_bytes(static_cast<std::uint64_t>(std::llround(bytes_per_step))),
      text::format_count(made.found.more_steps_needed), made.unit);
}

void take_over(growth::judgement& found, const growing_sites& sites) {
  const auto& first = sites.all.front().found;
  if (!is_leak(found.shape)) {
    found = first;
  } else {
    found.confidence = std::max(found.confidence, first.confidence);
  }
  found.bytes_per_step = sites.bytes_per_step;
  found.bytes_per_step_low = found.bytes_per_step_high = 0;
  for (const auto& one : sites.all) {
    found.bytes_per_step_low += one.found.bytes_per_step_low;
    found.bytes_per_step_high += one.found.bytes_per_step_high;
  }
}

}  // namespace

verdict judge_device(const verdict_maker& with, subject about, const device_timeline& device,
                     const growing_sites& sites, const step_clock& clock,
                     const growth::context& context) {
  auto found = growth::judge(device.whole.least.values, context);
  const auto rate = found.bytes_per_step;
  bool open = false;
  if (!sites.all.empty()) {
    take_over(found, sites);
    found.negligible = is_negligible(found.bytes_per_step, context.capacity_bytes);
  } else if (is_leak(found.shape) &&
             (sites.work_grows || !rises_to_the_end(device.whole.least.values))) {
    call_it_bounded(found,
                    sites.work_grows ? growth::shape::bounded_records : sites.largest_otherwise);
  } else if (is_leak(found.shape) && found.evidence.steps < steps_that_tell) {
    open = true;
    call_it_open(found);
  }
  // Two rises, as of a model that was replaced twice by a larger one, are no series of records.
  constexpr std::size_t fewest_records = 3;
  const bool records = found.shape == growth::shape::bounded_records;
  if (records && !sites.work_grows && found.evidence.jumps < fewest_records) {
    found.shape = growth::shape::warmup_plateau;
  }
  const bool leaks = is_leak(found.shape);
  auto made = with.make(std::move(about), std::move(found), &device.whole.least.shown);
  if (leaks) {
    made.culprits = suspects_of(sites.all);
    with.say_when(made, device.whole, clock);
  } else if (made.found.shape == growth::shape::sawtooth) {
    made.culprits = suspects_of(sites.filling);
  }
  if (open && made.about.kind == subject_kind::device) made.summary = open_summary(made, rate);
  if (sites.work_grows && !leaks && made.about.kind == subject_kind::device) {
    made.summary = fmt::format(
        "GPU {} needs more from {} to {}, as the inputs get larger; nothing of earlier ones stays",
        made.about.device, made.unit, made.unit);
  }
  return made;
}

}  // namespace memtrace::verdicts
