// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/bounded_growth.h"

#include <fmt/core.h>

#include <map>
#include <string>
#include <utility>

#include "analyzer/base/text/units.h"

namespace memtrace::verdicts {

namespace {

// A buffer that fills may still be made larger, nor need its elements be of one size.
constexpr double confidence_in_bound = 0.8;

// A sentence about a verdict whose growth is that.
[[nodiscard]] std::string summary_of(const verdict& about, const bounded_growth& buffer) {
  if (!buffer.steps_to_full) return buffer.summary;
  if (!buffer.settled) {
    return fmt::format("{}; about {} more {}s would tell", buffer.summary,
                       text::format_count(*buffer.steps_to_full), about.unit);
  }
  return fmt::format("{}, full in about {} {}s", buffer.summary,
                     text::format_count(*buffer.steps_to_full), about.unit);
}

void call_bounded_growth(growth::judgement& found, const bounded_growth& buffer) {
  found.shape = buffer.settled ? growth::shape::warmup_plateau : growth::shape::unknown;
  found.confidence = buffer.settled ? confidence_in_bound : 0;
  // What a loop collects is as little as it was.
  const bool is_collected = buffer.bound && buffer.bound->kind == program::bound_kind::loop;
  found.negligible = found.negligible && is_collected;
  found.overturned_by = buffer.overturned_by;
  found.more_steps_needed = buffer.steps_to_full.value_or(found.more_steps_needed);
}

void call_bounded_growth(verdict& about, const bounded_growth& buffer) {
  call_bounded_growth(about.found, buffer);
  about.summary = summary_of(about, buffer);
  about.bound = buffer.bound;
  about.doubt = buffer.doubt;
  if (buffer.settled) about.steps_to_bound = buffer.steps_to_full;
  about.steps_to_oom.reset();
  about.ns_to_oom.reset();
}

// The suspects that fill: their growth together, and the one that will be full last; one of which that is
// not settled before all others.
struct filled {
  double growth = 0;  // in bytes a step, or in shares of the subject's
  std::optional<bounded_growth> last;
  void add(double amount, const bounded_growth& buffer) {
    growth += amount;
    const auto order = [](const bounded_growth& one) {
      return std::pair(!one.settled, one.steps_to_full);
    };
    if (!last || order(buffer) > order(*last)) last = buffer;
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

[[nodiscard]] bool runs_out_before(const bounded_growth& buffer, const suspect& who,
                                   const oom_by_device& ends) {
  // How long a text gets is chosen for each; the answer says how much it takes at most.
  if (buffer.bound && buffer.bound->kind == program::bound_kind::positions) return false;
  const auto end = ends.find(who.device);
  return end != ends.end() && buffer.steps_to_full && *buffer.steps_to_full > end->second;
}

}  // namespace

void judge_bounded_growth(findings& found, std::uint64_t positions) {
  std::map<std::string, filled> by_category;
  const auto run = growing_run_of(found, positions);
  const auto ends = steps_to_oom(found);
  for (auto& about : found.verdicts) {
    double all = 0;
    filled held;
    for (auto& who : about.suspects) {
      all += who.share;
      if (!growth::is_leak(who.found.shape)) continue;
      auto buffer = bounded_growth_of(who, run);
      if (!buffer || runs_out_before(*buffer, who, ends)) continue;
      held.add(who.share, *buffer);
      if (about.about.kind == subject_kind::device)
        by_category[std::string(name_of(who.what))].add(who.bytes_per_step, *buffer);
      call_bounded_growth(who.found, *buffer);
      who.fills = std::move(buffer);
    }
    for (auto& who : about.unnamed) {
      if (!growth::is_leak(who.found.shape)) continue;
      auto buffer = bounded_growth_of(who, run);
      if (buffer && !runs_out_before(*buffer, who, ends)) who.fills = std::move(buffer);
    }
    const bool is_open = growth::is_leak(about.found.shape) && !about.bound;
    if (held.last && is_open && held.growth >= most_of_growth * all) {
      call_bounded_growth(about, *held.last);
    }
  }
  for (auto& about : found.verdicts) {
    if (about.about.kind != subject_kind::category || !growth::is_leak(about.found.shape)) continue;
    const auto same = by_category.find(about.about.name);
    if (same == by_category.end()) continue;
    if (same->second.growth >= most_of_growth * about.bytes_per_step) {
      call_bounded_growth(about, *same->second.last);
    }
  }
}

}  // namespace memtrace::verdicts
