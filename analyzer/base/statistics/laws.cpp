// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/statistics/laws.h"

#include <cmath>
#include <span>

#include "analyzer/base/statistics/change_points.h"
#include "analyzer/base/statistics/points.h"

namespace memtrace::growth {
namespace {

constexpr std::size_t points_for_ranks = 24;
constexpr double quite_significant = 2.33;  // one-sided p = 0.01
constexpr double suggestive = 1.64;         // one-sided p = 0.05
constexpr double clear_slope = 4.5;         // Student's t of the slope
constexpr double demanded_odds = 3;         // natural logarithm: 20 to 1

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
void judge_staircase(growth_found& found) {
  const auto& process = found.process;
  found.staircase = true;
  if (process.rises == 0) return;
  const bool silent = process.silence > 2 || process.silent_share > 0.5;
  found.leak = process.rises >= 3 && !silent && process.log_odds > demanded_odds;
  found.tentative = !found.leak && process.rises >= 2 && !silent && process.log_odds > 0;
  found.otherwise = process.silent_share > 0.5 ? shape::warmup_plateau : shape::bounded_records;
}

void judge_curve(growth_found& found, double negligible) {
  const auto& best = found.curves.best;
  if (best.follows == law::constant || best.rise <= negligible) return;
  if (!best.ongoing) {
    if (found.ranks.z < suggestive) return;
    found.otherwise =
        best.follows == law::logarithmic ? shape::bounded_records : shape::warmup_plateau;
    return;
  }
  // Few points cannot reach a large z: there a clear slope in least squares makes up for it.
  const double student =
      found.noise > 0 ? best.rise / found.noise * std::sqrt(found.curves.independent_points / 12)
                      : clear_slope + 1;
  const double demanded = student < clear_slope ? significant
                          : found.points < 8    ? suggestive
                                                : quite_significant;
  const bool enough = found.points >= 8 || student > clear_slope;
  found.leak =
      found.ranks.z > demanded && enough && found.net > negligible && found.net > 2 * found.noise;
  found.tentative = !found.leak && found.ranks.z > suggestive;
}

// The rank test on groups of points, whose autocorrelation is that of the points over a group's
// length. Where noise is a small part of the growth, what looks like autocorrelation is the curve.
void rank(growth_found& found, const std::vector<point>& points, double negligible) {
  const auto grouped = lowest_of(points, points_for_ranks);
  const auto& best = found.curves.best;
  const double group = static_cast<double>(points.size()) / static_cast<double>(grouped.size());
  const double correlated = std::pow(found.curves.autocorrelation, group);
  found.autocorrelation = found.noise < best.rise / 8 ? 0 : correlated;
  found.ranks = trend_of(grouped, found.autocorrelation);
  // The rate: of a leak that began late, since then; its interval always minds the correlation.
  const auto begin = best.ongoing ? best.from * static_cast<double>(grouped.size()) : 0;
  const auto growing = std::span(grouped).subspan(static_cast<std::size_t>(begin));
  const auto rate = trend_of(growing.size() >= 5 ? growing : std::span(grouped), correlated);
  // Blocks are rounded: what rounding may hide over the series belongs to the interval.
  const double rounding = negligible / (points.back().step - points.front().step);
  found.ranks.slope = rate.slope;
  found.ranks.low = rate.low - rounding;
  found.ranks.high = rate.high + rounding;
}

growth_found growth_on(const std::vector<point>& points, double negligible) {
  growth_found found;
  found.points = points.size();
  if (points.size() < 3) return found;
  const double least_noise = negligible / 8;
  found.curves = compare_curves(points, least_noise);
  found.net = net_growth(points);
  const auto count = static_cast<double>(points.size());
  const auto& best = found.curves.best;
  found.noise = std::sqrt(best.squared_error / std::max(1.0, count - best.parameters));
  rank(found, points, negligible);
  const auto steps = segments_of(points, least_noise);
  if (is_staircase(steps, points.size())) {
    const auto parameters = static_cast<int>(2 * steps.jumps() + 1);
    const double score = schwarz(steps.squared_error, count, count, parameters, least_noise);
    const double rival = schwarz(found.curves.best.squared_error, count, count,
                                 found.curves.best.parameters, least_noise);
    auto jumps = lasting_rises(steps, points);
    const auto process = process_of(jumps, points.front().step, points.back().step);
    if (score < rival) {
      found.jumps = std::move(jumps);
      found.process = process;
      found.noise = steps.deviation;
      judge_staircase(found);
      return found;
    }
  }
  judge_curve(found, negligible);
  return found;
}

}  // namespace

// Least squares give up where odd points abound: then only the lowest of each group are looked at.
growth_found growth_of(const std::vector<point>& points, double negligible) {
  auto found = growth_on(points, negligible);
  const bool at_odds =
      !found.staircase && found.curves.best.follows == law::constant && found.ranks.z > significant;
  if (!at_odds) return found;
  return growth_on(without_strays(lowest_of(points, points_for_ranks), negligible), negligible);
}

}  // namespace memtrace::growth
