// SPDX-License-Identifier: Apache-2.0
//
// The decision. Each step is small: leave out the warm-up; take out single shifts; look for teeth
// and judge their floors; otherwise let the growth laws compete, and demand that the rank test
// agrees before anything is called a leak.
#include <algorithm>
#include <cmath>

#include "analyzer/growth/change_points.h"
#include "analyzer/growth/curves.h"
#include "analyzer/growth/jumps.h"
#include "analyzer/growth/points.h"
#include "analyzer/growth/rank_tests.h"
#include "analyzer/growth/shifts.h"
#include "analyzer/growth/teeth.h"
#include "analyzer/growth/verdict.h"
#include "analyzer/growth/words.h"

namespace memtrace::growth {
namespace {

constexpr std::uint64_t least_steps = 12;
constexpr std::size_t points_for_ranks = 24;
constexpr double significant = 3.0;  // one-sided p = 0.0013
constexpr double suggestive = 1.64;  // one-sided p = 0.05
constexpr std::size_t fewest_floors = 4;

struct growth_found {
  bool leak = false;
  bool staircase = false;
  shape otherwise = shape::steady;  // where it is no leak
  trend ranks;
  comparison curves;
  jump_process process;
  std::vector<jump> jumps;
  double net = 0, noise = 0, autocorrelation = 0;
  std::size_t points = 0;
  bool tentative = false;  // grows, but too few steps to be sure
};

double net_growth(const std::vector<point>& points) {
  const auto edge = std::max<std::size_t>(1, points.size() / 8);
  std::vector<double> first, last;
  for (std::size_t i = 0; i < edge; ++i) {
    first.push_back(points[i].bytes);
    last.push_back(points[points.size() - 1 - i].bytes);
  }
  return median_of(last) - median_of(first);
}

// A staircase leaks where its jumps keep coming.
void judge_staircase(growth_found& found, double from, double to) {
  found.process = process_of(found.jumps, from, to);
  const auto& process = found.process;
  found.staircase = true;
  if (process.rises == 0 || process.risen <= process.fallen * 4) {
    found.otherwise = shape::steady;
    return;
  }
  const bool silent = process.silence > 2 || process.silent_share > 0.5;
  found.leak = process.rises >= 3 && process.fallen <= process.risen / 10 && !silent &&
               process.log_odds > 0.5;
  found.tentative = !found.leak && process.rises == 2 && !silent;
  found.otherwise = process.rises >= 2 && process.log_odds < 0 && !silent ? shape::bounded_records
                    : silent && process.rises <= 2                        ? shape::warmup_plateau
                    : silent                                              ? shape::warmup_plateau
                                                                          : shape::bounded_records;
}

void judge_curve(growth_found& found, double negligible) {
  const auto& best = found.curves.best;
  if (best.name == "constant" || best.rise <= negligible) return;
  if (!best.ongoing) {
    if (found.ranks.z < suggestive) return;
    found.otherwise = best.name == "logarithmic" ? shape::bounded_records : shape::warmup_plateau;
    return;
  }
  const double demanded = found.points < 8 ? suggestive : significant;
  const bool clear = found.points >= 8 || found.noise < best.rise / 20;
  found.leak =
      found.ranks.z > demanded && clear && found.net > negligible && found.net > 2 * found.noise;
  found.tentative = !found.leak && found.ranks.z > suggestive;
}

// The rank test on groups of points, whose autocorrelation is that of the points over a group's
// length. Where noise is a small part of the growth, what looks like autocorrelation is the curve.
void rank(growth_found& found, const std::vector<point>& points) {
  const auto grouped = lowest_of(points, points_for_ranks);
  const double group = static_cast<double>(points.size()) / static_cast<double>(grouped.size());
  const bool dwarfed = found.noise < found.curves.best.rise / 8;
  found.autocorrelation = dwarfed ? 0 : std::pow(found.curves.autocorrelation, group);
  found.ranks = trend_of(grouped, found.autocorrelation);
}

growth_found growth_of(const std::vector<point>& points, double negligible) {
  growth_found found;
  found.points = points.size();
  if (points.size() < 3) return found;
  const double least_noise = negligible / 8;
  found.curves = compare_curves(points, least_noise);
  found.net = net_growth(points);
  const auto count = static_cast<double>(points.size());
  const auto& best = found.curves.best;
  found.noise = std::sqrt(best.squared_error / std::max(1.0, count - best.parameters));
  rank(found, points);
  const auto steps = segments_of(points, least_noise);
  if (is_staircase(steps, points.size())) {
    const auto parameters = static_cast<int>(2 * steps.jumps() + 1);
    const double score = schwarz(steps.squared_error, count, count, parameters, least_noise);
    const double rival = schwarz(found.curves.best.squared_error, count, count,
                                 found.curves.best.parameters, least_noise);
    if (score < rival) {
      found.jumps = jumps_of(steps, points);
      found.noise = steps.deviation;
      judge_staircase(found, points.front().step, points.back().step);
      return found;
    }
  }
  judge_curve(found, negligible);
  return found;
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

double confidence_of(const growth_found& found, bool leak, std::uint64_t steps) {
  const auto count = static_cast<double>(steps);
  const double enough = count / (count + 10);
  const double margin =
      found.staircase ? std::abs(found.process.log_odds) * 2 : found.curves.margin;
  const double told = 1 - std::exp(-margin / 4);
  const double tail = 0.5 * std::erfc(std::abs(found.ranks.z) / std::sqrt(2.0));
  const double certain = leak ? (1 - tail) * told : std::max(told, 0.5);
  return std::clamp(enough * certain, 0.05, 0.99);
}

void describe(verdict& out, const growth_found& found, const std::vector<jump>& shifts) {
  auto& rests_on = out.evidence;
  rests_on.points = found.points;
  rests_on.net_bytes = found.net;
  rests_on.noise_bytes = found.noise;
  rests_on.mann_kendall_z = found.ranks.z;
  rests_on.autocorrelation = found.autocorrelation;
  rests_on.model = found.staircase ? "staircase" : found.curves.best.name;
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

}  // namespace

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

bool is_leak(shape value) {
  return value == shape::accumulating || value == shape::stepwise || value == shape::sawtooth_leak;
}

verdict judge(const series& values, const context& about) {
  verdict out;
  const auto negligible = static_cast<double>(about.negligible_bytes);
  out.evidence.steps = values.steps();
  out.evidence.step_resolution = values.width();
  if (values.steps() < least_steps) {
    out.more_steps_needed = least_steps - values.steps();
    out.overturned_by = overturned_by(out);
    return out;
  }
  out.evidence.warmup_steps = warmup_of(values.steps());
  auto steps = after_warmup(values, out.evidence.warmup_steps);
  const auto shifts = take_out_shifts(steps, negligible);
  const auto teeth = find_teeth(steps, negligible);
  const bool has_teeth = teeth.teeth >= 2;
  growth_found found;
  if (!has_teeth) {
    found = growth_of(clearest_points(steps), negligible);
  } else if (teeth.floors.size() >= fewest_floors) {
    found = growth_of(lowest_of(teeth.floors, 128), negligible);
  }
  out.evidence.teeth = teeth.teeth;
  if (has_teeth) {
    out.shape = found.leak ? shape::sawtooth_leak : shape::sawtooth;
  } else if (found.leak) {
    out.shape = found.staircase || rises_rarely(steps) ? shape::stepwise : shape::accumulating;
  } else {
    out.shape = found.otherwise;
    if (out.shape == shape::steady && (grew_in_warmup(values, steps, found, negligible))) {
      out.shape = shape::warmup_plateau;
    }
    const bool rose =
        std::any_of(shifts.begin(), shifts.end(), [](const jump& one) { return one.bytes > 0; });
    if (out.shape == shape::steady && rose) out.shape = shape::warmup_plateau;
  }
  describe(out, found, shifts);
  out.confidence = confidence_of(found, is_leak(out.shape), values.steps());
  if (is_leak(out.shape)) {
    out.bytes_per_step = found.ranks.slope;
    out.bytes_per_step_low = std::max(0.0, found.ranks.low);
    out.bytes_per_step_high = found.ranks.high;
    const double soon = out.bytes_per_step * 10'000;
    out.negligible = soon < std::max(1048576.0, 0.0005 * static_cast<double>(about.capacity_bytes));
  } else if (found.tentative) {
    out.more_steps_needed =
        found.staircase ? static_cast<std::uint64_t>(std::ceil(2 * found.process.usual_wait))
                        : steps_until_significant(values.steps(), found.ranks.z);
  }
  out.overturned_by = overturned_by(out);
  return out;
}

verdict judge(std::span<const std::uint64_t> values, const context& about) {
  series all;
  for (const auto value : values) all.add(value);
  return judge(all, about);
}

}  // namespace memtrace::growth
