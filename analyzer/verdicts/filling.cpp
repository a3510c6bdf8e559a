// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdicts/filling.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>

#include "analyzer/text/units.h"
#include "analyzer/verdicts/held_path.h"
#include "analyzer/verdicts/keeper_words.h"

namespace memtrace::verdicts {

namespace {

// Of the growth that bounded containers must hold for the whole to be a filling buffer.
constexpr double most_of_growth = 0.9;
// A census says that the container is bounded, but not that it will not be made larger, nor that
// its elements are of one size.
constexpr double confidence_in_bound = 0.8;

[[nodiscard]] std::string overturning(const filling& buffer) {
  if (buffer.limit == 0) return "growth after the container is full";
  return fmt::format("growth after `{}` is full at {} elements (it held {})",
                     variable_of(*buffer.container), text::format_count(buffer.limit),
                     text::format_count(buffer.length));
}

[[nodiscard]] std::string summary_of_filling(const verdict& about, const filling& buffer) {
  const auto when = buffer.steps_to_full
                        ? fmt::format(", full in about {} {}s",
                                      text::format_count(*buffer.steps_to_full), about.unit)
                        : std::string();
  return fmt::format("grows into {}, which is bounded{}", describe(*buffer.container), when);
}

void call_filling(growth::judgement& found, const filling& buffer) {
  found.shape = growth::shape::warmup_plateau;
  found.confidence = confidence_in_bound;
  found.overturned_by = overturning(buffer);
  found.more_steps_needed = buffer.steps_to_full.value_or(found.more_steps_needed);
}

void call_filling(verdict& about, const filling& buffer) {
  call_filling(about.found, buffer);
  about.summary = summary_of_filling(about, buffer);
  about.steps_to_oom.reset();
  about.ns_to_oom.reset();
}

struct filled {
  double bytes_per_step = 0;
  std::optional<filling> last;  // that will be full
  void add(const culprit& who, const filling& buffer) {
    bytes_per_step += who.bytes_per_step;
    if (!last || buffer.steps_to_full > last->steps_to_full) last = buffer;
  }
};

}  // namespace

std::optional<filling> filling_of(const culprit& who) {
  std::uint64_t all = 0;
  std::uint64_t bounded = 0;
  const retainer* largest = nullptr;
  for (const auto& keeper : who.retained_by) {
    all += keeper.bytes;
    if ((keeper.flags & format::held_bounded) == 0) continue;
    bounded += keeper.bytes;
    if (largest == nullptr || keeper.bytes > largest->bytes) largest = &keeper;
  }
  if (largest == nullptr ||
      static_cast<double>(bounded) < most_of_growth * static_cast<double>(all))
    return std::nullopt;
  filling found;
  found.container = largest;
  found.length = largest->length;
  found.limit = limit_of(largest->container);
  if (found.limit < found.length || found.length == 0 || who.bytes_per_step <= 0) return found;
  const double an_element = static_cast<double>(largest->bytes) / static_cast<double>(found.length);
  const double missing = static_cast<double>(found.limit - found.length) * an_element;
  found.steps_to_full = static_cast<std::uint64_t>(std::ceil(missing / who.bytes_per_step));
  return found;
}

void judge_filling(findings& found) {
  std::map<std::string, filled> by_category;
  for (auto& about : found.verdicts) {
    double held = 0;
    double all = 0;
    std::optional<filling> last;
    for (auto& who : about.culprits) {
      all += who.share;
      const auto buffer = filling_of(who);
      if (!buffer || !growth::is_leak(who.found.shape)) continue;
      held += who.share;
      if (!last || buffer->steps_to_full > last->steps_to_full) last = buffer;
      if (about.about.kind == subject_kind::device)
        by_category[std::string(name_of(who.what))].add(who, *buffer);
      call_filling(who.found, *buffer);
    }
    if (last && growth::is_leak(about.found.shape) && held >= most_of_growth * all) {
      call_filling(about, *last);
    }
  }
  for (auto& about : found.verdicts) {
    if (about.about.kind != subject_kind::category || !growth::is_leak(about.found.shape)) continue;
    const auto same = by_category.find(about.about.name);
    if (same == by_category.end()) continue;
    if (same->second.bytes_per_step >= most_of_growth * about.bytes_per_step) {
      call_filling(about, *same->second.last);
    }
  }
}

}  // namespace memtrace::verdicts
