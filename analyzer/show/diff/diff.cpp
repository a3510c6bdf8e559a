// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/diff/diff.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace memtrace::diff {

namespace {

constexpr std::uint64_t most_values = 64;

// Where no steps are known: what the verdict looked at.
[[nodiscard]] step_curve curve_of(const verdicts::verdict& judged) {
  step_curve curve;
  curve.boundary = judged.unit;
  curve.stride = std::max<std::uint64_t>(1, judged.series.stride);
  curve.steps = judged.series.bytes.size() * curve.stride;
  curve.left = judged.series.bytes;
  return curve;
}

// A step that ends after memory ran out is the end of the program, not of its work.
[[nodiscard]] std::vector<attribution::step_peaks> steps_of(const run::device_report& device,
                                                            const run::oom_report* oom) {
  auto steps = device.steps.steps;
  if (oom == nullptr || oom->facts.caught) return steps;
  std::erase_if(steps, [&](const auto& step) { return step.end_event > oom->facts.event; });
  return steps;
}

[[nodiscard]] step_curve curve_of(const run::device_report& device,
                                  const std::vector<attribution::step_peaks>& steps) {
  step_curve curve;
  curve.boundary = name_of(device.steps.boundary);
  curve.steps = steps.size();
  curve.stride = std::max<std::uint64_t>(1, (curve.steps + most_values - 1) / most_values);
  for (std::size_t first = 0; first < steps.size(); first += curve.stride) {
    const auto end = std::min<std::size_t>(first + curve.stride, steps.size());
    auto left = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t peak = 0;
    for (auto i = first; i < end; ++i) {
      left = std::min(left, steps[i].left);
      // A step that allocates nothing has what it began with.
      peak = std::max({peak, steps[i].peak, steps[i].left});
    }
    curve.left.push_back(left);
    curve.peak.push_back(peak);
  }
  return curve;
}

// The first step includes what is done once.
[[nodiscard]] std::optional<std::uint64_t> median_step(
    const std::vector<attribution::step_peaks>& steps) {
  std::vector<std::uint64_t> lasted;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    lasted.push_back(steps[i].end_ns - std::min(steps[i].end_ns, steps[i - 1].end_ns));
  }
  if (lasted.empty()) return std::nullopt;
  const auto middle = lasted.begin() + static_cast<std::ptrdiff_t>(lasted.size() / 2);
  std::ranges::nth_element(lasted, middle);
  return *middle;
}

[[nodiscard]] const run::oom_report* oom_of(const run::process_report& process,
                                            std::uint32_t device) {
  const run::oom_report* first = nullptr;
  for (const auto& oom : process.ooms) {
    if (oom.facts.device != device) continue;
    if (!oom.facts.caught) return &oom;
    if (first == nullptr) first = &oom;
  }
  return first;
}

// Which device of a run it is: its rank, or else its place among the processes with GPU memory.
struct device_key {
  std::uint64_t process = 0;
  std::uint32_t device = 0;
  [[nodiscard]] bool operator==(const device_key&) const = default;
};

struct keyed_side {
  device_key key;
  device_side side;
};

[[nodiscard]] std::vector<keyed_side> devices_of(const run::run_report& run) {
  std::vector<keyed_side> found;
  std::uint64_t place = 0;
  for (const auto& process : run) {
    for (const auto& device : process.devices) {
      device_side side;
      side.process = &process;
      side.device = &device;
      side.oom = oom_of(process, device.facts.device);
      const auto steps = steps_of(device, side.oom);
      const auto* const judged = verdicts::of_device(process.findings, device.facts.device);
      side.curve = steps.empty() && judged != nullptr ? curve_of(*judged) : curve_of(device, steps);
      side.step_ns = median_step(steps);
      found.push_back({{process.run.rank.value_or(place), device.facts.device}, std::move(side)});
    }
    if (!process.devices.empty()) ++place;
  }
  return found;
}

[[nodiscard]] std::uint64_t peak_of(const std::optional<device_side>& side) {
  return side ? side->device->peak_allocated.totals.allocated : 0;
}

[[nodiscard]] std::vector<device_pair> pair_devices(std::vector<keyed_side> before,
                                                    std::vector<keyed_side> after) {
  std::vector<device_pair> pairs;
  for (auto& one : before) {
    auto same = std::ranges::find(after, one.key, &keyed_side::key);
    // A single device each is the same one, whatever its number.
    if (before.size() == 1 && after.size() == 1) same = after.begin();
    device_pair pair;
    pair.before = std::move(one.side);
    if (same != after.end()) {
      pair.after = std::move(same->side);
      after.erase(same);
    }
    pairs.push_back(std::move(pair));
  }
  for (auto& one : after) {
    device_pair pair;
    pair.after = std::move(one.side);
    pairs.push_back(std::move(pair));
  }
  std::ranges::stable_sort(pairs, std::greater(), [](const device_pair& pair) {
    return std::pair(pair.before && pair.after,
                     std::max(peak_of(pair.before), peak_of(pair.after)));
  });
  return pairs;
}

// Only where the peak fell: what a longer run no longer needs has not been carried out.
[[nodiscard]] std::vector<former_advice> advice_no_longer_given(const device_side& before,
                                                                const device_side& after) {
  std::vector<former_advice> found;
  const bool fell =
      after.device->peak_reserved.totals.reserved < before.device->peak_reserved.totals.reserved;
  if (!fell || before.oom != nullptr || after.oom != nullptr) return found;
  const auto& now = after.process->advice.pieces;
  for (const auto& piece : before.process->advice.pieces) {
    const bool is_here = piece.what.device == before.device->facts.device;
    if (!is_here || piece.saves_bytes <= 0) continue;
    if (std::ranges::any_of(now, [&](const auto& one) { return one.what.id == piece.what.id; })) {
      continue;
    }
    found.push_back({piece.what.id, piece.saves_bytes});
  }
  std::ranges::stable_sort(found, std::greater(), &former_advice::predicted_bytes);
  return found;
}

}  // namespace

run_difference compare(const run::run_report& before, const run::run_report& after) {
  run_difference found;
  found.before = &before;
  found.after = &after;
  found.devices = pair_devices(devices_of(before), devices_of(after));
  for (auto& pair : found.devices) {
    if (!pair.before || !pair.after) continue;
    const auto& old_peak = pair.before->device->at_peak;
    const auto& new_peak = pair.after->device->at_peak;
    pair.categories = compare_categories(old_peak, new_peak);
    pair.modules = compare_modules(old_peak, new_peak);
    pair.lines = compare_lines(old_peak, new_peak);
    const of_device before_device{*pair.before->process, pair.before->device->facts.device};
    const of_device after_device{*pair.after->process, pair.after->device->facts.device};
    pair.verdicts = compare_verdicts(before_device, after_device);
    pair.growing = compare_growth(before_device, after_device);
    pair.advice = advice_no_longer_given(*pair.before, *pair.after);
  }
  const bool paired =
      !found.devices.empty() && found.devices.front().before && found.devices.front().after;
  const auto& old_process = paired ? *found.devices.front().before->process : before.front();
  const auto& new_process = paired ? *found.devices.front().after->process : after.front();
  found.configuration = compare_configuration(old_process, new_process);
  found.not_comparable = what_does_not_compare(found);
  return found;
}

}  // namespace memtrace::diff
