// SPDX-License-Identifier: Apache-2.0
//
// Does memory accumulate or merely stream? The verdict on a series of bytes, one value a step: the
// least live bytes of the step, its last, its peak, reserved bytes, a process's resident bytes …
// Pass the steps of one kind (training apart from evaluation), without the teardown at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/statistics/series.h"

namespace memtrace::growth {

enum class shape : std::uint8_t {
  unknown,          // too few steps, or nothing that can be told yet
  accumulating,     // a leak: grows step by step, at the end too
  stepwise,         // a leak: grows by jumps that keep coming (an epoch, an evaluation, an error)
  sawtooth,         // fills and empties, down to the same floor
  sawtooth_leak,    // a leak: fills and empties, and the floor rises
  bounded_records,  // grows by jumps that get rarer: the longest sequence so far
  warmup_plateau,   // grew, and stopped
  steady,           // no growth
};

[[nodiscard]] std::string_view name_of(shape value);
// The same for people, after "memory …": "grew at first and stopped growing".
[[nodiscard]] std::string_view words_of(shape value);
// Whether memory that behaves so runs out in the end.
[[nodiscard]] bool is_leak(shape value);

struct context {
  std::uint64_t capacity_bytes = 0;  // of the device; 0: not known
  // Growth over the whole series up to this is nothing: two of the caching allocator's 512-byte
  // blocks.
  std::uint64_t negligible_bytes = 1024;
};

// A lasting change of the level that was found.
struct change_point {
  std::uint64_t step = 0;  // the first step after the change, to within the series' resolution
  std::int64_t bytes = 0;  // up or down
};

// The figures that the verdict rests on.
struct test_figures {
  std::uint64_t steps = 0;            // of the series
  std::uint64_t warmup_steps = 0;     // left out at its start
  std::uint64_t step_resolution = 1;  // steps that one window stands for
  std::size_t points = 0;             // values that the tests saw
  double net_bytes = 0;               // growth after the warm-up
  double noise_bytes = 0;             // standard deviation of the points around the model
  double mann_kendall_z = 0;          // corrected for ties and for lag-1 autocorrelation
  double autocorrelation = 0;         // lag 1, of the residuals
  std::string_view model = "";        // the growth model that fits best
  double model_margin = 0;            // BIC by which it beats the best model of the other answer
  double late_start = 0;              // share of the steps before a leak began
  std::size_t teeth = 0;              // falls of a sawtooth
  double tooth_bytes = 0;             // by which it usually fills, and then empties
  double tooth_steps = 0;             // in how many steps, on average; 0: not known, nor the bytes
  std::size_t jumps = 0;              // lasting rises after the warm-up
  double jump_log_odds = 0;           // of jumps that keep coming, against records that get rarer
};

struct judgement {
  growth::shape shape = shape::unknown;
  double bytes_per_step = 0;                               // 0 where nothing grows
  double bytes_per_step_low = 0, bytes_per_step_high = 0;  // 95 % interval
  double confidence = 0;  // 0 … 1, in `shape` being a leak or not
  // A leak whose 10,000 steps stay below 1 MiB and 0.05 % of the device.
  bool negligible = false;
  std::vector<change_point> changes;    // the largest ones, by step
  std::uint64_t more_steps_needed = 0;  // before a firm answer is possible; 0: this is firm
  std::string overturned_by;            // the least evidence that would overturn the verdict
  test_figures evidence;
};

// Of a sawtooth: "fills by 243 MiB in about 40 steps and empties"; without figures where they are not
// known.
[[nodiscard]] std::string fill_words(const test_figures& seen, std::string_view unit);

// Whether 10,000 steps of it stay below 1 MiB or 0.05 % of the device's capacity (0: not known).
[[nodiscard]] bool is_negligible(double bytes_per_step, std::uint64_t capacity_bytes);

[[nodiscard]] judgement judge(const series& values, const context& about = {});
[[nodiscard]] judgement judge(std::span<const std::uint64_t> values, const context& about = {});

// The least evidence that would overturn a verdict, as a sentence.
[[nodiscard]] std::string overturned_by(const judgement& given);

struct room {
  std::uint64_t capacity_bytes = 0;   // that the process may use at most
  double floor_bytes = 0;             // what is live between steps, now
  double peak_above_floor_bytes = 0;  // what a step needs on top of it
};

// Whole steps that still succeed; 0 if the next one fails. Nothing where memory does not grow or
// the capacity is not known. Fragmentation is not in it: the failure may come earlier.
[[nodiscard]] std::optional<std::uint64_t> steps_to_oom(double bytes_per_step, const room& left);

}  // namespace memtrace::growth
