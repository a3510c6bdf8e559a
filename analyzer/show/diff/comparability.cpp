// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/diff/diff.h"

#include <fmt/core.h>

#include <algorithm>

#include "analyzer/base/text/units.h"

namespace memtrace::diff {

namespace {

using sentences = std::vector<std::string>;

[[nodiscard]] std::size_t devices_in(const run::run_report& run) {
  std::size_t count = 0;
  for (const auto& process : run) count += process.devices.size();
  return count;
}

// The same trace, under two names.
[[nodiscard]] bool is_same_recording(const run::run_report& before, const run::run_report& after) {
  const auto same = [](const run::process_report& a, const run::process_report& b) {
    return a.run.pid == b.run.pid && a.run.started_ns == b.run.started_ns &&
           a.run.host == b.run.host && a.completeness.events == b.completeness.events;
  };
  return std::ranges::equal(before, after, same);
}

void add_what_is_missing(sentences& out, const char* which, const run::run_report& run) {
  std::uint64_t missing = 0;
  bool truncated = false;
  for (const auto& process : run) {
    missing += process.completeness.dropped_events + process.completeness.missing_events;
    truncated = truncated || process.completeness.truncated;
  }
  if (missing != 0) {
    out.push_back(fmt::format("The recording {} lacks {} events: its figures are too low.", which,
                              text::format_count(missing)));
  } else if (truncated) {
    out.push_back(fmt::format("The recording {} is cut off: only what came before counts.", which));
  }
}

void add_gpus(sentences& out, const device_side& before, const device_side& after) {
  const auto& old_run = before.process->run;
  const auto& new_run = after.process->run;
  if (old_run.simulated_gpu.empty() != new_run.simulated_gpu.empty()) {
    out.emplace_back(
        "One ran on a simulated GPU, the other on a real one: times and memory outside PyTorch do "
        "not compare.");
  } else if (before.device->name != after.device->name ||
             before.device->facts.total_bytes != after.device->facts.total_bytes) {
    out.push_back(fmt::format(
        "The GPUs differ: times{} and steps to out of memory are those of each one's own.",
        before.device->name == after.device->name ? "" : ", workspaces"));
  }
  if (!old_run.simulated_gpu.empty() && !new_run.simulated_gpu.empty()) {
    out.emplace_back("On a simulated GPU a step's time is the host's alone.");
  }
}

void add_steps(sentences& out, const device_side& before, const device_side& after) {
  const auto& old_curve = before.curve;
  const auto& new_curve = after.curve;
  if (old_curve.boundary.empty() || new_curve.boundary.empty()) {
    if (old_curve.boundary != new_curve.boundary) {
      out.push_back(fmt::format("No steps are known {}: nothing compares by the step.",
                                old_curve.boundary.empty() ? "before" : "after"));
    }
    return;
  }
  if (old_curve.boundary != new_curve.boundary) {
    out.push_back(fmt::format(
        "Steps are counted by other means ({} before, {} after): a step may not be the same work.",
        old_curve.boundary, new_curve.boundary));
  }
  const auto old_steps = before.device->steps.count;
  const auto new_steps = after.device->steps.count;
  if (old_steps != new_steps) {
    out.push_back(fmt::format(
        "{} steps before, {} after: compare what a step takes and leaves, not totals; a peak of "
        "what accumulates is higher the longer it runs.",
        text::format_count(old_steps), text::format_count(new_steps)));
  }
}

}  // namespace

sentences what_does_not_compare(const run_difference& runs) {
  sentences out;
  if (is_same_recording(*runs.before, *runs.after)) {
    out.emplace_back("Both are the same recording.");
  }
  const auto old_devices = devices_in(*runs.before);
  const auto new_devices = devices_in(*runs.after);
  if (old_devices != new_devices) {
    out.push_back(fmt::format("{} GPU{} before, {} after: figures are those of one GPU each.",
                              old_devices, old_devices == 1 ? "" : "s", new_devices));
  }
  add_what_is_missing(out, "before", *runs.before);
  add_what_is_missing(out, "after", *runs.after);
  if (runs.devices.empty() || !runs.devices.front().before || !runs.devices.front().after) {
    return out;
  }
  const auto& pair = runs.devices.front();
  add_gpus(out, *pair.before, *pair.after);
  add_steps(out, *pair.before, *pair.after);
  return out;
}

}  // namespace memtrace::diff
