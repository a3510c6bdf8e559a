// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdicts/device_verdict.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

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
  if (!sites.all.empty()) {
    take_over(found, sites);
    found.negligible = is_negligible(found.bytes_per_step, context.capacity_bytes);
  } else if (is_leak(found.shape)) {
    call_it_bounded(found,
                    sites.work_grows ? growth::shape::bounded_records : sites.largest_otherwise);
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
  if (sites.work_grows && !leaks && made.about.kind == subject_kind::device) {
    made.summary = fmt::format(
        "GPU {} needs more from {} to {}, as the inputs get larger; nothing of earlier ones stays",
        made.about.device, made.unit, made.unit);
  }
  return made;
}

}  // namespace memtrace::verdicts
