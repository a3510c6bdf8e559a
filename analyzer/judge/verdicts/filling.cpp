// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/filling.h"

#include <algorithm>
#include <map>
#include <string>

#include "analyzer/judge/verdicts/filling_kinds.h"

namespace memtrace::verdicts {

namespace {

// Of the growth that bounded containers must hold for the whole to be a filling buffer.
constexpr double most_of_growth = 0.9;
// What fills may still be made larger, nor need its elements be of one size.
constexpr double confidence_in_bound = 0.8;

void call_filling(growth::judgement& found, const filling& buffer) {
  found.shape = buffer.settled ? growth::shape::warmup_plateau : growth::shape::unknown;
  found.confidence = buffer.settled ? confidence_in_bound : 0;
  found.overturned_by = buffer.overturned_by;
  found.more_steps_needed = buffer.steps_to_full.value_or(found.more_steps_needed);
}

void call_filling(verdict& about, const filling& buffer) {
  call_filling(about.found, buffer);
  about.summary = summary_of(about, buffer);
  about.steps_to_oom.reset();
  about.ns_to_oom.reset();
}

// Of culprits that fill: their growth together, and the one that will be full last.
struct filled {
  double growth = 0;  // in bytes a step, or in shares of the subject's
  std::optional<filling> last;
  void add(double amount, const filling& buffer) {
    growth += amount;
    if (!last || buffer.steps_to_full > last->steps_to_full) last = buffer;
  }
};

using oom_by_device = std::map<std::uint32_t, std::uint64_t>;

[[nodiscard]] oom_by_device steps_to_oom(const findings& found) {
  oom_by_device steps;
  for (const auto& about : found.verdicts) {
    const bool of_device = about.about.kind == subject_kind::device;
    if (of_device && about.steps_to_oom) steps[about.about.device] = *about.steps_to_oom;
  }
  return steps;
}

[[nodiscard]] bool runs_out_before(const filling& buffer, const culprit& who,
                                   const oom_by_device& ends) {
  const auto end = ends.find(who.device);
  return end != ends.end() && buffer.steps_to_full && *buffer.steps_to_full > end->second;
}

}  // namespace

void judge_filling(findings& found) {
  std::map<std::string, filled> by_category;
  const auto run = growing_run_of(found);
  const auto ends = steps_to_oom(found);
  for (auto& about : found.verdicts) {
    double all = 0;
    filled held;
    for (auto& who : about.culprits) {
      all += who.share;
      if (!growth::is_leak(who.found.shape)) continue;
      auto buffer = filling_of(who, run);
      if (!buffer || runs_out_before(*buffer, who, ends)) continue;
      held.add(who.share, *buffer);
      if (about.about.kind == subject_kind::device)
        by_category[std::string(name_of(who.what))].add(who.bytes_per_step, *buffer);
      call_filling(who.found, *buffer);
      who.fills = std::move(buffer);
    }
    if (held.last && growth::is_leak(about.found.shape) && held.growth >= most_of_growth * all) {
      call_filling(about, *held.last);
    }
  }
  for (auto& about : found.verdicts) {
    if (about.about.kind != subject_kind::category || !growth::is_leak(about.found.shape)) continue;
    const auto same = by_category.find(about.about.name);
    if (same == by_category.end()) continue;
    if (same->second.growth >= most_of_growth * about.bytes_per_step) {
      call_filling(about, *same->second.last);
    }
  }
}

}  // namespace memtrace::verdicts
