// SPDX-License-Identifier: Apache-2.0
#include "tests/answers/statistics/study_report.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <span>
#include <string>
#include <vector>

// The tests that others decide by, for comparison; written apart from the detector.
namespace baselines {
namespace {

// S of Mann-Kendall in O(n log n): discordant pairs are the inversions that a merge sort counts.
std::int64_t sort_and_count(std::vector<std::uint64_t>& values, std::vector<std::uint64_t>& spare,
                            std::size_t from, std::size_t to) {
  if (to - from < 2) return 0;
  const auto middle = (from + to) / 2;
  auto inversions =
      sort_and_count(values, spare, from, middle) + sort_and_count(values, spare, middle, to);
  auto i = from, j = middle, k = from;
  while (i < middle || j < to) {
    if (j == to || (i < middle && values[i] <= values[j])) {
      spare[k++] = values[i++];
    } else {
      inversions += static_cast<std::int64_t>(middle - i);
      spare[k++] = values[j++];
    }
  }
  std::copy(spare.begin() + static_cast<std::ptrdiff_t>(from),
            spare.begin() + static_cast<std::ptrdiff_t>(to),
            values.begin() + static_cast<std::ptrdiff_t>(from));
  return inversions;
}

// Mann-Kendall on every value, corrected for ties, one-sided at 0.5 % (z > 2.58).
[[nodiscard]] bool mann_kendall(std::span<const std::uint64_t> bytes) {
  std::vector<std::uint64_t> sorted(bytes.begin(), bytes.end()), spare(bytes.size());
  const auto inversions = static_cast<double>(sort_and_count(sorted, spare, 0, sorted.size()));
  const auto n = static_cast<double>(bytes.size());
  double tied_pairs = 0, variance = n * (n - 1) * (2 * n + 5);
  for (std::size_t i = 0; i < sorted.size();) {
    auto j = i;
    while (j < sorted.size() && sorted[j] == sorted[i]) ++j;
    const auto t = static_cast<double>(j - i);
    tied_pairs += t * (t - 1) / 2;
    variance -= t * (t - 1) * (2 * t + 5);
    i = j;
  }
  const double score = n * (n - 1) / 2 - tied_pairs - 2 * inversions;
  return variance > 0 && (score - 1) / std::sqrt(variance / 18) > 2.58;
}

// Least squares on every value: rises, and R² > 0.5.
[[nodiscard]] bool regression(std::span<const std::uint64_t> bytes) {
  const auto n = static_cast<double>(bytes.size());
  double mean_x = (n - 1) / 2, mean_y = 0;
  for (const auto value : bytes) mean_y += static_cast<double>(value) / n;
  double xx = 0, xy = 0, yy = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const double x = static_cast<double>(i) - mean_x, y = static_cast<double>(bytes[i]) - mean_y;
    xx += x * x;
    xy += x * y;
    yy += y * y;
  }
  return xy > 0 && yy > 0 && xy * xy > 0.5 * xx * yy;
}

// "Grew by more than 100 MB in more than 70 % of the calls."
[[nodiscard]] bool hundred_megabytes(std::span<const std::uint64_t> bytes) {
  std::size_t grew = 0;
  for (std::size_t i = 1; i < bytes.size(); ++i) {
    if (bytes[i] > bytes[i - 1] + 100'000'000) ++grew;
  }
  return static_cast<double>(grew) > 0.7 * static_cast<double>(bytes.size() - 1);
}

}  // namespace
}  // namespace baselines

namespace study {
namespace {

using memtrace::growth::is_leak;
using memtrace::growth::judge;
using memtrace::growth::judgement;
using memtrace::growth::shape;
using synthetic::sample;
using synthetic::truth;

double share(std::size_t part, std::size_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

// Most steps end where the step before did.
bool mostly_ties(const std::vector<std::uint64_t>& bytes) {
  std::size_t ties = 0;
  for (std::size_t i = 1; i < bytes.size(); ++i) ties += bytes[i] == bytes[i - 1];
  return 2 * ties > bytes.size();
}

std::string length_of(std::size_t steps) {
  if (steps < 30) return "12–29 steps";
  if (steps < 100) return "30–99 steps";
  if (steps < 1000) return "100–999 steps";
  if (steps < 10000) return "1,000–9,999 steps";
  return "10,000–100,000 steps";
}

struct tally {
  matrix seen;
  std::map<std::string, rates> others, noise, length, extras;
  std::vector<double> rate_errors;
  std::size_t covered = 0;
  std::array<rates, 2> by_confidence;  // below and from 0.8
  std::size_t steps = 0;
  double judging_s = 0, slowest_s = 0;
};

void add_rate(tally& all, const sample& one, const judgement& got) {
  if (!synthetic::leaks(one.shape) || one.bytes_per_step == 0 || !is_leak(got.shape)) return;
  all.rate_errors.push_back(std::abs(got.bytes_per_step / one.bytes_per_step - 1));
  all.covered +=
      got.bytes_per_step_low <= one.bytes_per_step && one.bytes_per_step <= got.bytes_per_step_high;
}

void add(tally& all, const sample& one, bool list_misses, std::uint64_t seed) {
  const auto begin = std::chrono::steady_clock::now();
  const auto got = judge(one.bytes);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  all.judging_s += took.count();
  all.slowest_s = std::max(all.slowest_s, took.count());
  all.steps += one.bytes.size();
  const bool leak = synthetic::leaks(one.shape), called = is_leak(got.shape);
  all.seen.add(one.shape, got.shape);
  all.others["1 this detector"].add(leak, called);
  all.others["2 Mann-Kendall alone, z > 2.58"].add(leak, baselines::mann_kendall(one.bytes));
  all.others["3 linear regression alone, R² > 0.5"].add(leak, baselines::regression(one.bytes));
  all.others["4 more than 100 MB in more than 70 % of the calls"].add(
      leak, baselines::hundred_megabytes(one.bytes));
  all.noise[std::string(name_of(one.kind))].add(leak, called);
  all.length[length_of(one.bytes.size())].add(leak, called);
  all.extras[one.episodes ? "with evaluations on top" : "without evaluations"].add(leak, called);
  all.extras[one.outliers ? "with outliers" : "without outliers"].add(leak, called);
  all.extras[mostly_ties(one.bytes) ? "with mostly ties" : "without ties, or with few"].add(leak,
                                                                                            called);
  all.by_confidence[got.confidence >= 0.8 ? 1 : 0].add(leak, called);
  add_rate(all, one, got);
  if (list_misses && leak != called) {
    std::printf(
        "MISS %s seed %llu n %zu noise %s episodes %d outliers %d -> %s model %s z %.2f "
        "jumps %zu odds %.2f teeth %zu confidence %.2f points %zu\n",
        std::string(name_of(one.shape)).c_str(), static_cast<unsigned long long>(seed),
        one.bytes.size(), std::string(name_of(one.kind)).c_str(), one.episodes, one.outliers,
        std::string(name_of(got.shape)).c_str(), std::string(got.evidence.model).c_str(),
        got.evidence.mann_kendall_z, got.evidence.jumps, got.evidence.jump_log_odds,
        got.evidence.teeth, got.confidence, got.evidence.points);
  }
}

void print_rates(const char* title, const std::map<std::string, rates>& groups, bool numbered) {
  std::printf("\n| %s | recall | false positives |\n| --- | ---: | ---: |\n", title);
  for (const auto& [name, one] : groups) {
    std::printf("| %s | %.1f %% | %.1f %% |\n", name.c_str() + (numbered ? 2 : 0),
                100 * one.recall(), 100 * one.false_positives());
  }
}

void print_matrix(const matrix& seen) {
  std::printf("\n| truth \\ verdict |");
  for (std::size_t j = 0; j < shapes; ++j) {
    std::printf(" %s |", std::string(name_of(static_cast<shape>(j))).c_str());
  }
  std::printf(" leak or not, right |\n| --- |");
  for (std::size_t j = 0; j <= shapes; ++j) std::printf(" ---: |");
  std::printf("\n");
  for (std::size_t i = 0; i < synthetic::truths; ++i) {
    const auto row = static_cast<truth>(i);
    std::size_t total = 0, right = 0;
    std::printf("| %s |", std::string(name_of(row)).c_str());
    for (std::size_t j = 0; j < shapes; ++j) {
      std::printf(" %zu |", seen.count[i][j]);
      total += seen.count[i][j];
      if (synthetic::leaks(row) == is_leak(static_cast<shape>(j))) right += seen.count[i][j];
    }
    std::printf(" %.1f %% |\n", 100 * share(right, total));
  }
}

void print_strengths(const options& chosen) {
  std::printf(
      "\n| slope's z of the best estimator | accumulating, noisy | found |\n"
      "| --- | ---: | ---: |\n");
  constexpr std::array<double, 7> edges{2, 4, 6, 8, 12, 20, 50};
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    std::size_t found = 0, all = 0;
    for (std::size_t k = 0; k < chosen.series; ++k) {
      const auto one = synthetic::draw(truth::accumulating, seed_of(chosen, k) + 500'000'000,
                                       {edges[i], edges[i + 1]});
      if (one.kind != synthetic::noise::white && one.kind != synthetic::noise::autocorrelated) {
        continue;
      }
      ++all;
      found += is_leak(judge(one.bytes).shape);
    }
    std::printf("| %.0f–%.0f | %zu | %.1f %% |\n", edges[i], edges[i + 1], all,
                100 * share(found, all));
  }
}

}  // namespace

void matrix::add(truth row, shape column) {
  ++count[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
}

void rates::add(bool leak, bool called) {
  ++(leak ? leaks : harmless);
  if (called) ++(leak ? found : alarms);
}

double rates::recall() const {
  return share(found, leaks);
}
double rates::false_positives() const {
  return share(alarms, harmless);
}

rates rates_of(const matrix& seen) {
  rates all;
  for (std::size_t i = 0; i < synthetic::truths; ++i) {
    for (std::size_t j = 0; j < shapes; ++j) {
      for (std::size_t k = 0; k < seen.count[i][j]; ++k) {
        all.add(synthetic::leaks(static_cast<truth>(i)), is_leak(static_cast<shape>(j)));
      }
    }
  }
  return all;
}

std::uint64_t seed_of(const options& chosen, std::size_t number) {
  return (chosen.held_out ? first_held_out_seed : 1) + number;
}

matrix run(const options& chosen) {
  matrix seen;
  for (std::size_t i = 0; i < synthetic::truths; ++i) {
    for (std::size_t k = 0; k < chosen.series; ++k) {
      const auto one = synthetic::draw(static_cast<truth>(i), seed_of(chosen, k));
      seen.add(one.shape, judge(one.bytes).shape);
    }
  }
  return seen;
}

void print(const options& chosen) {
  tally all;
  for (std::size_t i = 0; i < synthetic::truths; ++i) {
    for (std::size_t k = 0; k < chosen.series; ++k) {
      const auto seed = seed_of(chosen, k);
      add(all, synthetic::draw(static_cast<truth>(i), seed), chosen.list_misses, seed);
    }
  }
  std::printf("%zu series of each shape, %s seeds, 12 to 100,000 steps.\n", chosen.series,
              chosen.held_out ? "held-out" : "tuning");
  print_matrix(all.seen);
  print_rates("leak or not, on the same series", all.others, true);
  print_rates("by noise", all.noise, false);
  print_rates("by length", all.length, false);
  print_rates("by what lies on top", all.extras, false);
  print_rates("by confidence",
              {{"below 0.8", all.by_confidence[0]}, {"from 0.8", all.by_confidence[1]}}, false);
  print_strengths(chosen);
  std::sort(all.rate_errors.begin(), all.rate_errors.end());
  const auto count = all.rate_errors.size();
  if (count > 0) {
    std::printf(
        "\nBytes a step, of the %zu found leaks with one rate: median error %.2f %%, "
        "95 %% of them within %.1f %%; the 95 %% interval holds the truth in %.1f %%.\n",
        count, 100 * all.rate_errors[count / 2], 100 * all.rate_errors[count * 95 / 100],
        100 * share(all.covered, count));
  }
  std::fprintf(stderr, "judged %zu steps in %.2f s; the slowest series took %.4f s\n", all.steps,
               all.judging_s, all.slowest_s);
}

}  // namespace study
