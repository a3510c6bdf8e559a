// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/fit/length_law.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "analyzer/base/text/units.h"
#include "analyzer/plan/fit/show.h"

namespace memtrace::fit {

namespace {

// The terms: 1, batch, batch · length and batch · length².
constexpr std::size_t most_terms = 4;
using coefficients = std::array<double, most_terms>;

// In use at once at a batch and a length.
struct point {
  double batch = 0;
  double length = 0;
  double bytes = 0;
};

[[nodiscard]] bool is_known(const row& one) {
  return one.sequence && one.line && one.kind == law_kind::requests && one.found.largest != 0 &&
         one.found.fitted && one.found.fitted->fullest() != nullptr;
}

[[nodiscard]] double length_of(const row& one) {
  return static_cast<double>(*one.sequence);
}

// As a dry run at its largest batch has shown it.
[[nodiscard]] point largest_of(const row& one) {
  return {static_cast<double>(one.found.largest), length_of(one),
          static_cast<double>(one.found.fitted->fullest()->peak_allocated)};
}

// And of half of it, by the length's own law.
[[nodiscard]] std::vector<point> points_of(const std::vector<const row*>& rows) {
  std::vector<point> points;
  for (const auto* one : rows) {
    const auto largest = largest_of(*one);
    points.push_back(largest);
    const double half = largest.batch / 2;
    points.push_back({half, largest.length, one->line->constant + one->line->per_item * half});
  }
  return points;
}

// The first `terms` coefficients with the least squares of relative errors: normal equations, which
// are solved by elimination. Batches and lengths are divided by the largest, so that the terms are
// alike.
[[nodiscard]] coefficients fitted(const std::vector<point>& points, std::size_t terms) {
  double batches = 1;
  double lengths = 1;
  for (const auto& one : points) {
    batches = std::max(batches, one.batch);
    lengths = std::max(lengths, one.length);
  }
  std::array<std::array<double, most_terms + 1>, most_terms> sums{};
  for (const auto& one : points) {
    const double batch = one.batch / batches;
    const double length = one.length / lengths;
    const coefficients of{1, batch, batch * length, batch * length * length};
    const double weight = 1 / std::max(1.0, one.bytes * one.bytes);
    for (std::size_t i = 0; i < terms; ++i) {
      for (std::size_t j = 0; j < terms; ++j) sums[i][j] += weight * of[i] * of[j];
      sums[i][most_terms] += weight * of[i] * one.bytes;
    }
  }
  for (std::size_t i = 0; i < terms; ++i) {  // positive definite: no pivots are looked for
    for (std::size_t k = i + 1; k < terms; ++k) {
      const double times = sums[k][i] / sums[i][i];
      for (std::size_t j = i; j <= most_terms; ++j) sums[k][j] -= times * sums[i][j];
    }
  }
  coefficients found{};
  for (std::size_t i = terms; i-- > 0;) {
    double rest = sums[i][most_terms];
    for (std::size_t j = i + 1; j < terms; ++j) rest -= sums[i][j] * found[j];
    found[i] = rest / sums[i][i];
  }
  const coefficients scales{1, batches, batches * lengths, batches * lengths * lengths};
  for (std::size_t i = 0; i < terms; ++i) found[i] /= scales[i];
  return found;
}

// A square that takes nothing, or less, at the longest is rounding, not attention.
[[nodiscard]] bool has_square(const coefficients& found, const std::vector<const row*>& rows) {
  constexpr double least_share = 0.005;
  const auto longest = largest_of(
      **std::ranges::max_element(rows, {}, [](const row* one) { return *one->sequence; }));
  return found[3] * longest.batch * longest.length * longest.length > least_share * longest.bytes;
}

// Every length has its bytes for each of the batch, so that two lengths give the terms up to batch
// · length, and three the square.
[[nodiscard]] length_law law_of(std::string name, const std::vector<const row*>& rows) {
  const auto points = points_of(rows);
  auto terms = std::min(rows.size() + 1, most_terms);
  auto found = fitted(points, terms);
  if (terms == most_terms && !has_square(found, rows)) found = fitted(points, --terms);
  length_law made;
  made.name = std::move(name);
  made.constant = found[0];
  made.item = found[1];
  made.token = found[2];
  made.token_squared = found[3];
  made.checked = rows.size() + 1 > terms;
  for (const auto* one : rows) {
    made.lengths.push_back(*one->sequence);
    const auto miss = made.at(one->found.largest, *one->sequence) / largest_of(*one).bytes - 1;
    made.error = std::max(made.error, std::abs(miss));
  }
  return made;
}

[[nodiscard]] std::string bytes(double count) {
  const auto text = text::format_bytes(static_cast<std::uint64_t>(std::llround(std::abs(count))));
  return count < 0 ? "-" + text : text;
}

}  // namespace

double length_law::at(std::uint64_t batch, std::uint64_t length) const {
  const auto tokens = static_cast<double>(length);
  return constant +
         static_cast<double>(batch) * (item + token * tokens + token_squared * tokens * tokens);
}

std::vector<length_law> length_laws(const wishes& wanted, const plan& made) {
  std::vector<std::pair<std::string, std::vector<const row*>>> groups;
  for (const auto& one : made.rows) {
    if (!is_known(one)) continue;
    auto without = one;
    without.sequence.reset();
    auto name = name_of(wanted, without);
    auto group = std::ranges::find(groups, name, &decltype(groups)::value_type::first);
    if (group == groups.end()) group = groups.insert(group, {std::move(name), {}});
    const auto is_same = [&](const row* other) { return other->sequence == one.sequence; };
    if (std::ranges::none_of(group->second, is_same)) group->second.push_back(&one);
  }
  std::vector<length_law> found;
  for (auto& [name, rows] : groups) {
    if (rows.size() >= 2) found.push_back(law_of(std::move(name), rows));
  }
  return found;
}

std::string sentence_of(const length_law& law) {
  auto text = fmt::format("in use at once {} + batch × ({} + {} × length", bytes(law.constant),
                          bytes(law.item), bytes(law.token));
  if (law.token_squared != 0) text += fmt::format(" + {:.2f} B × length²", law.token_squared);
  text += fmt::format("); off by at most {:.1f} % at the largest batches of the {} lengths tried",
                      100 * law.error, law.lengths.size());
  if (!law.checked) text += ", which are too few to check it: a further length would";
  return text;
}

}  // namespace memtrace::fit
