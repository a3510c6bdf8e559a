// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/statistics/laws.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "analyzer/base/statistics/level_changes.h"
#include "analyzer/base/statistics/points.h"

namespace memtrace::growth {

namespace {

constexpr int grid = 20;             // ramps begin and end at multiples of 1/20 of the span
constexpr double latest_end = 0.71;  // growth that stopped later may only be pausing

using values = std::vector<double>;

// The points with their steps scaled to 0 … 1, and their bytes about the mean.
struct scaled {
  explicit scaled(const std::vector<point>& points) {
    const double first = points.front().step;
    const double span = std::max(1.0, points.back().step - first);
    double mean = 0;
    for (const auto& one : points) mean += one.bytes / static_cast<double>(points.size());
    for (const auto& one : points) {
      x.push_back((one.step - first) / span);
      y.push_back(one.bytes - mean);
      total += y.back() * y.back();
    }
  }
  values x, y;
  double total = 0;
};

// Ordinary least squares of y on one regressor g and a constant.
template <class Function>
void fit(const scaled& data, curve& one, Function&& g, values* residuals = nullptr) {
  const auto count = data.x.size();
  double mean = 0;
  values at(count);
  for (std::size_t i = 0; i < count; ++i) mean += at[i] = g(data.x[i]);
  mean /= static_cast<double>(count);
  double gg = 0, gy = 0;
  for (std::size_t i = 0; i < count; ++i) {
    gg += (at[i] - mean) * (at[i] - mean);
    gy += (at[i] - mean) * data.y[i];
  }
  const double scale = gg > 0 ? gy / gg : 0;
  one.rise = scale * (g(1.0) - g(0.0));
  one.squared_error = 0;
  if (residuals != nullptr) residuals->resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double left = data.y[i] - scale * (at[i] - mean);
    one.squared_error += left * left;
    if (residuals != nullptr) (*residuals)[i] = left;
  }
}

double ramp(double x, double from, double to) {
  return std::clamp((x - from) / (to - from), 0.0, 1.0);
}

struct candidate {
  curve fitted;
  double shape = 0;  // τ of the exponential, shift of the logarithm
};

double regressor(const candidate& one, double x) {
  switch (one.fitted.follows) {
    case law::constant:
      return 0;
    case law::accelerating:
      return x * x;
    case law::saturating:
      return 1 - std::exp(-x / one.shape);
    case law::logarithmic:
      return std::log(x + one.shape);
    case law::linear:
    case law::late_start:
    case law::ended_ramp:
      break;
  }
  return ramp(x, one.fitted.from, one.fitted.to);
}

std::vector<candidate> families() {
  std::vector<candidate> all;
  const auto add = [&](law follows, bool ongoing, int parameters, double from, double to,
                       double shape = 0) {
    candidate one;
    one.fitted = {
        .follows = follows, .ongoing = ongoing, .parameters = parameters, .from = from, .to = to};
    one.shape = shape;
    all.push_back(one);
  };
  add(law::constant, false, 1, 0, 1);
  add(law::linear, true, 2, 0, 1);
  add(law::accelerating, true, 3, 0, 1);
  for (const double tau : {0.02, 0.04, 0.07, 0.11, 0.16, 0.22, 0.3}) {
    add(law::saturating, false, 3, 0, 1, tau);
  }
  for (const double shift : {0.01, 0.03, 0.06, 0.1}) add(law::logarithmic, false, 3, 0, 1, shift);
  for (int i = 0; i < grid; ++i) {
    for (int j = i + 1; j <= grid; ++j) {
      const double from = static_cast<double>(i) / grid, to = static_cast<double>(j) / grid;
      if (j == grid && i > 0 && from <= 0.75) add(law::late_start, true, 3, from, to);
      if (to <= latest_end) add(law::ended_ramp, false, i == 0 ? 3 : 4, from, to);
    }
  }
  return all;
}

struct scored {
  candidate best;
  double score = std::numeric_limits<double>::infinity();
};

}  // namespace

std::string_view name_of(law which) {
  constexpr std::array<std::string_view, 7> names = {"constant",   "linear",      "accelerating",
                                                     "saturating", "logarithmic", "late_start",
                                                     "ended_ramp"};
  return names[static_cast<std::size_t>(which)];
}

double schwarz(double squared_error, double points, double independent, int parameters,
               double least_noise) {
  return independent * std::log(squared_error / points + least_noise * least_noise) +
         parameters * std::log(independent);
}

comparison compare_curves(const std::vector<point>& points, double least_noise) {
  static const std::vector<candidate> known = families();
  comparison found;
  const scaled data(points);
  auto fitted = known;
  const auto count = static_cast<double>(points.size());
  for (auto& one : fitted) {
    fit(data, one.fitted, [&](double x) { return regressor(one, x); });
  }
  found.independent_points = count;
  for (const bool corrected : {false, true}) {
    scored ongoing, other;
    for (const auto& one : fitted) {
      if (one.fitted.parameters > 1 && one.fitted.rise <= 0) continue;
      auto& side = one.fitted.ongoing ? ongoing : other;
      const double score = schwarz(one.fitted.squared_error, count, found.independent_points,
                                   one.fitted.parameters, least_noise);
      if (score < side.score) side = {one, score};
    }
    const auto& best = ongoing.score < other.score ? ongoing : other;
    found.best = best.best.fitted;
    found.margin = std::abs(ongoing.score - other.score);
    if (corrected) break;
    values residuals;
    auto again = best.best;
    fit(
        data, again.fitted, [&](double x) { return regressor(best.best, x); }, &residuals);
    const double rho = std::clamp(lag_one(residuals), 0.0, 0.95);
    found.autocorrelation = rho;
    if (again.fitted.squared_error > count * least_noise * least_noise) {
      found.independent_points = std::max(5.0, count * (1 - rho) / (1 + rho));
    }
  }
  if (!std::isfinite(found.margin)) found.margin = no_rival;
  return found;
}

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

// A staircase leaks where its jumps keep coming, and the ranks say that it rises: jumps that are
// taken back in between leave it where it was.
void judge_staircase(growth_found& found) {
  const auto& process = found.process;
  found.staircase = true;
  if (process.rises == 0) return;
  const bool silent = process.silence > 2 || process.silent_share > 0.5;
  found.leak = process.rises >= 3 && !silent && process.log_odds > demanded_odds &&
               found.ranks.z > suggestive;
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
