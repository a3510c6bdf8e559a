// SPDX-License-Identifier: Apache-2.0
#include "tests/answers/statistics/generator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace synthetic {
namespace {

constexpr double kib = 1024, mib = 1024 * kib, gib = 1024 * mib;
using values = std::vector<double>;

// Random numbers that are the same with every standard library: SplitMix64 (Steele, Lea and Flood,
// OOPSLA 2014) and the textbook transformations.
class random {
 public:
  explicit random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  double unit() { return (static_cast<double>(bits() >> 11) + 0.5) * 0x1.0p-53; }
  double uniform(double low, double high) { return low + (high - low) * unit(); }
  double log_uniform(double low, double high) {
    return std::exp(uniform(std::log(low), std::log(high)));
  }
  bool chance(double probability) { return unit() < probability; }
  double normal() {
    return std::sqrt(-2 * std::log(unit())) * std::cos(2 * std::numbers::pi * unit());
  }

 private:
  std::uint64_t state_;
};

// A leak's or a cache's usual amount a step: 512 bytes to 1 GiB.
double draw_rate(random& dice) {
  return dice.log_uniform(512, gib);
}

// --- the shapes, without noise -------------------------------------------------------------------

void accumulate(sample& out, values& y, random& dice) {
  const auto n = y.size();
  out.bytes_per_step = draw_rate(dice);
  const double start = dice.chance(0.25) ? dice.uniform(0, 0.5) * static_cast<double>(n) : 0;
  const double spread =
      dice.chance(0.5) ? 0 : dice.uniform(0, 0.5);                   // sizes vary from step to step
  const double faster = dice.chance(0.15) ? dice.uniform(0, 2) : 0;  // gets worse
  double total = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const auto at = static_cast<double>(k);
    if (at >= start) {
      const double pace = 1 + faster * at / static_cast<double>(n);
      total += out.bytes_per_step * pace * (1 + dice.uniform(-spread, spread));
    }
    y[k] = total;
  }
  if (start > 0 || faster > 0) out.bytes_per_step = 0;  // no single rate over the series
}

void jump_regularly(sample& out, values& y, random& dice) {
  const auto n = static_cast<double>(y.size());
  // At least four jumps a run, at least three steps apart.
  const double period = dice.log_uniform(3, std::max(3.01, n / 4.5));
  const double jitter = dice.chance(0.5) ? 0 : dice.uniform(0, 0.3);
  const double spread = dice.chance(0.5) ? 0 : dice.uniform(0, 0.5);
  const double height = draw_rate(dice);
  out.bytes_per_step = height / period;
  double next = period * dice.uniform(0.3, 1), total = 0;
  for (std::size_t k = 0; k < y.size(); ++k) {
    while (static_cast<double>(k) >= next) {
      total += height * (1 + dice.uniform(-spread, spread));
      next += period * (1 + dice.uniform(-jitter, jitter));
    }
    y[k] = total;
  }
}

// Fills a tooth over `period` steps; what stays after each fall is `left` of it.
void saw(sample& out, values& y, random& dice, bool leak) {
  const auto n = static_cast<double>(y.size());
  const double most = leak ? n / 5.5 : n / 3.2;
  const double period =
      std::round(leak ? dice.log_uniform(2, most) : dice.log_uniform(4, std::max(4.0, most)));
  out.period = period;
  const double rise = draw_rate(dice);
  const double left = leak ? std::max(512.0, rise * period * dice.log_uniform(0.01, 0.5)) : 0;
  out.bytes_per_step = left / period;
  const double phase = std::floor(dice.uniform(0, period));
  for (std::size_t k = 0; k < y.size(); ++k) {
    const double at = static_cast<double>(k) + phase;
    const double tooth = std::floor(at / period);
    y[k] = tooth * left + (at - tooth * period) * rise;
  }
}

void keep_records(sample&, values& y, random& dice) {
  const double scale = dice.log_uniform(4 * mib, 8 * gib);
  const int law = static_cast<int>(dice.uniform(0, 3));
  const double sigma = dice.uniform(0.2, 0.8);
  double most = 0;
  for (auto& value : y) {
    const double length = law == 0   ? dice.unit()                          // uniform
                          : law == 1 ? std::exp(sigma * dice.normal()) / 8  // log-normal
                                     : std::clamp(0.5 + 0.2 * dice.normal(), 0.0, 1.0);  // clipped
    most = std::max(most, length * scale);
    value = most;
  }
}

void fill_and_stop(sample&, values& y, random& dice) {
  const auto n = static_cast<double>(y.size());
  const double total = dice.log_uniform(mib, 16 * gib);
  const double end = dice.uniform(0.02, 0.65) * n;  // no growth is left after it
  const int law = static_cast<int>(dice.uniform(0, 4));
  const double parts = std::floor(dice.uniform(1, 6));
  values when;
  for (int i = 0; i < static_cast<int>(parts); ++i) when.push_back(dice.uniform(0, end));
  for (std::size_t k = 0; k < y.size(); ++k) {
    const auto at = static_cast<double>(k);
    double share = 0;
    if (law == 0) share = std::min(1.0, at / std::max(1.0, end));      // fills evenly
    if (law == 1) share = 1 - std::exp(-3 * at / std::max(1.0, end));  // a cache: rarer misses
    if (law == 2) share = at >= 1 ? 1 : 0;                             // lazy optimizer state
    if (law == 3) {                                                    // one part after another
      share = static_cast<double>(
                  std::count_if(when.begin(), when.end(), [&](double t) { return at >= t; })) /
              parts;
    }
    y[k] = total * share;
  }
}

// --- what lies on top ----------------------------------------------------------------------------

// Standard deviation such that the best estimate of a slope G/n would have this z:
// z = G √n / (σ √12) √((1 - φ) / (1 + φ)).
double deviation_for(double z, double growth, double n, double phi) {
  return growth * std::sqrt(n / 12) / z * std::sqrt((1 - phi) / (1 + phi));
}

double growth_of(const sample& out, const values& y) {
  if (out.shape == truth::sawtooth_leak) {
    return out.bytes_per_step * static_cast<double>(y.size());
  }
  return y.back() - y.front();
}

void add_noise(sample& out, values& y, random& dice, strength signal) {
  const auto n = static_cast<double>(y.size());
  out.kind = static_cast<noise>(static_cast<int>(dice.uniform(0, 4)));
  if (out.kind == noise::none) return;
  if (out.kind == noise::jitter) {
    // Batches of varying size on top in some of the steps; ten or more steps (of a saw: of the
    // steps after a fall) can be expected to show the floor, or else nine in ten.
    const double chances = out.period > 0 ? n / out.period : n;
    const double floors = dice.uniform(std::min(0.9, std::max(0.3, 10 / chances)), 0.95);
    const double most = dice.log_uniform(mib, 4 * gib);
    for (auto& value : y) {
      if (!dice.chance(floors)) value += dice.uniform(0, most);
    }
    return;
  }
  const double phi = out.kind == noise::autocorrelated ? dice.uniform(0.2, 0.95) : 0;
  const double z = dice.log_uniform(signal.low, signal.high);
  const double growth = growth_of(out, y);
  double sigma = growth > 0 ? deviation_for(z, growth, n, phi) : dice.log_uniform(64 * kib, gib);
  if (out.shape == truth::sawtooth) sigma = *std::max_element(y.begin(), y.end()) / z;
  double now = dice.normal();
  for (auto& value : y) {
    value += sigma * now;
    now = phi * now + std::sqrt(1 - phi * phi) * dice.normal();
  }
}

// An evaluation every so often, with its own memory.
void add_episodes(sample& out, values& y, random& dice) {
  const auto n = static_cast<double>(y.size());
  if (n < 40 || !dice.chance(0.2)) return;
  out.episodes = true;
  const double period = dice.log_uniform(5, n / 6);
  const double length = std::max(1.0, dice.uniform(0.05, 0.33) * period);
  const double height = dice.log_uniform(mib, 8 * gib);
  for (std::size_t k = 0; k < y.size(); ++k) {
    if (std::fmod(static_cast<double>(k), period) >= period - length) y[k] += height;
  }
}

void add_outliers(sample& out, values& y, random& dice) {
  if (!dice.chance(0.4)) return;
  const double rate = dice.log_uniform(0.001, 0.02);
  const double height = dice.log_uniform(mib, 8 * gib);
  const bool down = dice.chance(0.3);
  for (std::size_t k = 0; k < y.size(); ++k) {
    if (!dice.chance(rate)) continue;
    out.outliers = true;
    const auto length = dice.chance(0.8) ? 1 : 2;
    const double size = height * dice.uniform(0.2, 1) * (down ? -1 : 1);
    for (std::size_t i = k; i < std::min(y.size(), k + static_cast<std::size_t>(length)); ++i) {
      y[i] += size;
    }
  }
}

// Grows over the first steps, as every program does.
void add_warmup(values& y, random& dice) {
  if (!dice.chance(0.5)) return;
  const auto n = static_cast<double>(y.size());
  const double steps = dice.log_uniform(1, std::max(1.5, std::min(100.0, n / 12)));
  const double total = dice.log_uniform(mib, 16 * gib);
  for (std::size_t k = 0; k < y.size(); ++k) {
    y[k] += total * std::min(1.0, static_cast<double>(k) / steps);
  }
}

}  // namespace

std::string_view name_of(truth value) {
  constexpr std::array<std::string_view, truths> names{
      "accumulating",    "stepwise",       "sawtooth_leak", "sawtooth",
      "bounded_records", "warmup_plateau", "steady"};
  return names[static_cast<std::size_t>(value)];
}

std::string_view name_of(noise value) {
  constexpr std::array<std::string_view, 4> names{"none", "jitter", "white", "autocorrelated"};
  return names[static_cast<std::size_t>(value)];
}

sample draw(truth shape, std::uint64_t seed, strength signal) {
  random dice(seed * 1000003 + static_cast<std::uint64_t>(shape));
  sample out;
  out.shape = shape;
  values y(static_cast<std::size_t>(std::round(dice.log_uniform(12, 100'000))), 0.0);
  switch (shape) {
    case truth::accumulating:
      accumulate(out, y, dice);
      break;
    case truth::stepwise:
      jump_regularly(out, y, dice);
      break;
    case truth::sawtooth_leak:
      saw(out, y, dice, true);
      break;
    case truth::sawtooth:
      saw(out, y, dice, false);
      break;
    case truth::bounded_records:
      keep_records(out, y, dice);
      break;
    case truth::warmup_plateau:
      fill_and_stop(out, y, dice);
      break;
    case truth::steady:
      break;
  }
  add_noise(out, y, dice, signal);
  add_episodes(out, y, dice);
  add_outliers(out, y, dice);
  if (shape != truth::steady && shape != truth::warmup_plateau) add_warmup(y, dice);
  const double base = dice.log_uniform(64 * kib, 64 * gib);
  // The caching allocator rounds to 512 bytes.
  const double quantum = 512;
  double lowest = 0;
  for (const double value : y) lowest = std::min(lowest, value);
  for (const double value : y) {
    out.bytes.push_back(
        static_cast<std::uint64_t>(std::round((value - lowest + base) / quantum) * quantum));
  }
  return out;
}

}  // namespace synthetic
