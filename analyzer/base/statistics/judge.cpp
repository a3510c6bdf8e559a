// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/statistics/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/base/statistics/laws.h"
#include "analyzer/base/statistics/level_changes.h"
#include "analyzer/base/statistics/points.h"
#include "analyzer/base/text/units.h"

namespace memtrace::growth {

// The decision. Each step is small: leave out the warm-up; take out single shifts; look for teeth
// and judge their floors; otherwise let the growth laws compete.

namespace {

constexpr std::uint64_t least_steps = 10;
constexpr std::uint64_t few_steps = 60;  // two or three jumps in fewer tell nothing
constexpr std::uint64_t certain_from_steps = 200;
constexpr std::size_t fewest_floors = 4;
constexpr std::size_t most_points = 128;

// Least bytes of the teeth or their averages, whichever varies less.
std::vector<point> clearest_of_teeth(const sawtooth& teeth, double negligible) {
  auto floors = without_strays(lowest_of(teeth.floors, most_points), negligible);
  auto levels = without_strays(lowest_of(teeth.levels, most_points), negligible);
  return uncertainty(floors) <= uncertainty(levels) ? floors : levels;
}

std::uint64_t warmup_of(std::uint64_t steps) {
  return std::min(steps / 4, std::max<std::uint64_t>(3, steps / 10));
}

// Whether memory rises in few of the steps, and hardly falls: jumps too dense to be seen singly.
bool rises_rarely(const stretch& steps) {
  double up = 0, down = 0, rises = 0, count = 0;
  for (const auto& one : steps.windows) {
    up += one.up;
    down += one.down;
    rises += one.rises;
    count += one.steps;
  }
  return down <= up / 10 && rises <= 0.34 * count;
}

// Whether the level after the warm-up is above where the series began.
bool grew_in_warmup(const series& values, const stretch& steps, const growth_found& found,
                    double negligible) {
  if (steps.windows.empty()) return false;
  double floor = steps.windows.front().floor;
  for (const auto& one : steps.windows) floor = std::min(floor, one.floor);
  return floor - values.first_bytes() > std::max(negligible, 2 * found.noise);
}

// Whether new highs came in close succession and then nothing moved for a good part of the run: a
// table that is full, an epoch's buffer. Jumps that merely are rare have long waits between them.
bool has_ended(const stretch& steps, double negligible) {
  constexpr std::size_t fewest_highs = 3, shortest = 4;
  constexpr std::size_t waits = 3, share = 4;  // of the longest wait; one part in
  const auto& windows = steps.windows;
  if (windows.empty()) return false;
  const double first = windows.front().floor;
  double highest = first;
  std::size_t last = 0, longest = 0, highs = 0;
  for (std::size_t i = 1; i < windows.size(); ++i) {
    if (windows[i].floor <= highest + negligible) continue;
    highest = windows[i].floor;
    longest = std::max(longest, i - last);
    last = i;
    ++highs;
  }
  const auto silence = windows.size() - 1 - last;
  if (highs < fewest_highs || silence < std::max(shortest, waits * longest) ||
      silence * share < windows.size()) {
    return false;
  }
  double moved = 0;
  for (auto i = last + 1; i < windows.size(); ++i) moved += windows[i].up + windows[i].down;
  const double usual_rise = (highest - first) / static_cast<double>(highs);
  return moved <= std::max(negligible, usual_rise / 2);
}

double confidence_of(const growth_found& found, bool leak, std::uint64_t steps) {
  const auto count = static_cast<double>(steps);
  const double enough = count / (count + 10);
  const double margin =
      found.staircase ? std::abs(found.process.log_odds) * 2 : found.curves.margin;
  const double told = 1 - std::exp(-margin / 4);
  const double tail = 0.5 * std::erfc(std::abs(found.ranks.z) / std::sqrt(2.0));
  const double certain = leak ? (1 - tail) * told : std::max(told, 0.5);
  // Growth over few steps may be a buffer that is not full yet, however plain it is.
  const double most = leak && steps <= certain_from_steps ? 0.85 : 0.99;
  return std::clamp(enough * certain, 0.05, most);
}

void describe(judgement& out, const growth_found& found, const std::vector<jump>& shifts) {
  auto& rests_on = out.evidence;
  rests_on.points = found.points;
  rests_on.net_bytes = found.net;
  rests_on.noise_bytes = found.noise;
  rests_on.mann_kendall_z = found.ranks.z;
  rests_on.autocorrelation = found.autocorrelation;
  rests_on.model = found.staircase ? "staircase" : name_of(found.curves.best.follows);
  rests_on.model_margin = found.curves.margin;
  rests_on.jumps = found.process.rises;
  rests_on.jump_log_odds = found.process.log_odds;
  auto all = found.jumps;
  all.insert(all.end(), shifts.begin(), shifts.end());
  if (!found.staircase && found.curves.best.from > 0 && found.curves.best.rise > 0 && found.leak) {
    out.evidence.late_start = found.curves.best.from;
  }
  std::sort(all.begin(), all.end(), [](const jump& a, const jump& b) { return a.step < b.step; });
  for (const auto& one : all) {
    out.changes.push_back({static_cast<std::uint64_t>(std::llround(one.step)),
                           static_cast<std::int64_t>(std::llround(one.bytes))});
  }
}

// The z of a trend grows with the 3/2 power of the steps.
std::uint64_t steps_until_significant(std::uint64_t steps, double z) {
  const double factor = std::pow((significant + 0.5) / std::max(z, 0.5), 2.0 / 3) - 1;
  return static_cast<std::uint64_t>(std::ceil(std::max(0.1, factor) * static_cast<double>(steps)));
}

struct findings {
  stretch steps;
  std::vector<jump> shifts;
  sawtooth teeth;
  bool emptied_once = false;
  growth_found growth;
};

double span_of(const stretch& steps) {
  if (steps.windows.empty()) return 0;
  double floor = steps.windows.front().floor, top = steps.windows.front().top;
  for (const auto& one : steps.windows) {
    floor = std::min(floor, one.floor);
    top = std::max(top, one.top);
  }
  return top - floor;
}

findings look_at(const series& values, std::uint64_t warmup, double negligible) {
  findings found;
  found.steps = after_warmup(values, warmup);
  if (span_of(found.steps) <= negligible) {  // most call sites: nothing to explain
    found.growth.curves.best.follows = law::constant;
    found.growth.curves.margin = no_rival;
    return found;
  }
  found.emptied_once = has_emptied_once(found.steps, negligible);
  found.shifts = take_out_shifts(found.steps, negligible);
  found.teeth = find_teeth(found.steps, negligible);
  if (found.teeth.teeth < 2) {
    found.growth = growth_of(clearest_points(found.steps, negligible), negligible);
  } else if (found.teeth.floors.size() >= fewest_floors) {
    found.growth = growth_of(clearest_of_teeth(found.teeth, negligible), negligible);
  }
  return found;
}

shape shape_of(const series& values, const findings& found, double negligible) {
  const auto& growth = found.growth;
  if (found.teeth.teeth >= 2) return growth.leak ? shape::sawtooth_leak : shape::sawtooth;
  if (growth.leak) {
    if (found.emptied_once) return shape::sawtooth;
    if (has_ended(found.steps, negligible)) return shape::warmup_plateau;
    const bool jumps = growth.staircase || rises_rarely(found.steps);
    return jumps ? shape::stepwise : shape::accumulating;
  }
  if (growth.tentative && (!growth.staircase || values.steps() < few_steps)) return shape::unknown;
  if (growth.otherwise != shape::steady) return growth.otherwise;
  const bool shifted = std::any_of(found.shifts.begin(), found.shifts.end(),
                                   [](const jump& one) { return one.bytes > 0; });
  const bool grew = shifted || grew_in_warmup(values, found.steps, growth, negligible);
  return grew ? shape::warmup_plateau : shape::steady;
}

void add_rate(judgement& out, const growth_found& growth, const context& about) {
  out.bytes_per_step = growth.ranks.slope;
  out.bytes_per_step_low = std::max(0.0, growth.ranks.low);
  out.bytes_per_step_high = growth.ranks.high;
  out.negligible = is_negligible(out.bytes_per_step, about.capacity_bytes);
}

std::uint64_t more_steps_for(const growth_found& growth, std::uint64_t steps) {
  if (growth.staircase) {
    return static_cast<std::uint64_t>(std::ceil(2 * growth.process.usual_wait));
  }
  return steps_until_significant(steps, growth.ranks.z);
}

}  // namespace

bool is_negligible(double bytes_per_step, std::uint64_t capacity_bytes) {
  constexpr double steps = 10'000;
  constexpr double least = 1048576;
  constexpr double share = 0.0005;
  return bytes_per_step * steps < std::max(least, share * static_cast<double>(capacity_bytes));
}

judgement judge(const series& values, const context& about) {
  judgement out;
  const auto negligible = static_cast<double>(about.negligible_bytes);
  out.evidence.steps = values.steps();
  out.evidence.step_resolution = values.width();
  if (values.steps() < least_steps) {
    out.more_steps_needed = least_steps - values.steps();
    out.overturned_by = overturned_by(out);
    return out;
  }
  out.evidence.warmup_steps = warmup_of(values.steps());
  const auto found = look_at(values, out.evidence.warmup_steps, negligible);
  out.evidence.teeth = found.teeth.teeth;
  out.evidence.tooth_bytes = found.teeth.fall_bytes;
  out.evidence.tooth_steps = found.teeth.fall_steps;
  out.shape = shape_of(values, found, negligible);
  describe(out, found.growth, found.shifts);
  const bool leak = is_leak(out.shape);
  out.confidence = confidence_of(found.growth, leak, values.steps());
  if (leak) add_rate(out, found.growth, about);
  if (found.growth.tentative) out.more_steps_needed = more_steps_for(found.growth, values.steps());
  out.overturned_by = overturned_by(out);
  return out;
}

judgement judge(std::span<const std::uint64_t> values, const context& about) {
  series all;
  for (const auto value : values) all.add(value);
  return judge(all, about);
}

std::string_view name_of(shape value) {
  switch (value) {
    case shape::unknown:
      return "unknown";
    case shape::accumulating:
      return "accumulating";
    case shape::stepwise:
      return "stepwise";
    case shape::sawtooth:
      return "sawtooth";
    case shape::sawtooth_leak:
      return "sawtooth_leak";
    case shape::bounded_records:
      return "bounded_records";
    case shape::warmup_plateau:
      return "warmup_plateau";
    case shape::steady:
      return "steady";
  }
  return "unknown";
}

std::string_view words_of(shape value) {
  switch (value) {
    case shape::unknown:
      break;
    case shape::accumulating:
      return "accumulates";
    case shape::stepwise:
      return "grows by jumps";
    case shape::sawtooth:
      return "fills and empties, and does not grow";
    case shape::sawtooth_leak:
      return "fills, empties and keeps";
    case shape::bounded_records:
      return "rises ever more rarely: a largest input so far";
    case shape::warmup_plateau:
      return "grew at first and stopped growing";
    case shape::steady:
      return "is steady";
  }
  return "cannot be told yet";
}

std::string fill_words(const test_figures& seen, std::string_view unit) {
  if (seen.tooth_steps == 0) {
    return fmt::format("fills and empties over {} {}s", text::format_count(seen.steps), unit);
  }
  const auto bytes = static_cast<std::uint64_t>(std::llround(std::max(seen.tooth_bytes, 0.0)));
  const auto steps = std::max<long long>(1, std::llround(seen.tooth_steps));
  return fmt::format("fills by {} in about {} {}{} and empties", text::brief_bytes(bytes), steps,
                     unit, steps == 1 ? "" : "s");
}

bool is_leak(shape value) {
  return value == shape::accumulating || value == shape::stepwise || value == shape::sawtooth_leak;
}

namespace {

// Flat steps after which the last quarter of the series would count as the end of the growth.
std::uint64_t flat_steps(const test_figures& seen) {
  return std::max<std::uint64_t>(6, (seen.steps - seen.warmup_steps) / 3);
}

std::uint64_t longest_silence(const judgement& given) {
  std::uint64_t last = given.evidence.warmup_steps, longest = 1;
  for (const auto& one : given.changes) {
    if (one.bytes < 0) continue;
    longest = std::max(longest, one.step - std::min(last, one.step));
    last = one.step;
  }
  return 2 * longest;
}

}  // namespace

std::string overturned_by(const judgement& given) {
  const auto& seen = given.evidence;
  switch (given.shape) {
    case shape::unknown:
      return fmt::format("any verdict needs {} more steps", given.more_steps_needed);
    case shape::accumulating:
      return fmt::format("{} more steps without growth (a cache or buffer that was filling)",
                         flat_steps(seen));
    case shape::stepwise:
      return fmt::format("{} more steps without another jump",
                         given.changes.empty() ? flat_steps(seen) : longest_silence(given));
    case shape::sawtooth_leak:
      return fmt::format("{} more falls down to the lowest floor so far",
                         std::max<std::size_t>(2, seen.teeth / 3));
    case shape::sawtooth:
      return "three more falls that each end higher than the one before";
    case shape::bounded_records:
      return "two more jumps, each after a wait no longer than the one before it";
    case shape::warmup_plateau:
      return "growth that begins again and lasts for a quarter of the steps";
    case shape::steady:
      return fmt::format("growth of more than {:.0f} bytes over as many steps again",
                         std::max(1024.0, std::ceil(3 * seen.noise_bytes)));
  }
  return {};
}

std::optional<std::uint64_t> steps_to_oom(double bytes_per_step, const room& left) {
  if (left.capacity_bytes == 0 || !(bytes_per_step > 0)) return std::nullopt;
  const double free =
      static_cast<double>(left.capacity_bytes) - left.floor_bytes - left.peak_above_floor_bytes;
  if (free < 0) return 0;
  const double steps = std::floor(free / bytes_per_step);
  constexpr double most = 1e15;  // a rate near zero: far beyond any run, and safe to convert
  return static_cast<std::uint64_t>(std::fmin(steps, most));
}

}  // namespace memtrace::growth
