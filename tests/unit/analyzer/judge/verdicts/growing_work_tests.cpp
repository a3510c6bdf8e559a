// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/suspects.h"

#include "tests/unit/catch.h"

namespace {

using memtrace::attribution::category;
using namespace memtrace::verdicts;

// A call site whose latest block of `bytes` is alive at the end of each of 40 steps.
[[nodiscard]] site_history replaced(category what, std::uint64_t bytes) {
  site_history site;
  for (std::uint64_t step = 0; step < 40; ++step) {
    memtrace::attribution::block_life block;
    block.bytes = bytes;
    if (step != 0) site.births.died(step - 1);
    site.births.born(step);
    site.now = {bytes, 1};
    site.end_step(step + 1);
    site.outlived(block, what, step, step + 1);
  }
  site.series.set(39, bytes, bytes);
  return site;
}

// A device on which `stays` bytes more stay with each step, which needs `needs` more beside them.
[[nodiscard]] device_series device_with(std::uint64_t stays, std::uint64_t needs) {
  device_series device(0);
  for (std::uint64_t step = 0; step < 40; ++step) {
    const auto least = 1'000'000 + stays * step;
    device.observe(least + 5'000'000 + needs * step, 0);
    device.end_step(step, {.allocated = least});
  }
  return device;
}

[[nodiscard]] std::vector<suspect> growing_by(double bytes_per_step) {
  suspect one;
  one.bytes_per_step = bytes_per_step;
  return {one};
}

}  // namespace

TEST_CASE("longer sequences are work that grows") {
  step_inputs inputs;
  inputs.add(replaced(category::inputs, 40'960), true);
  inputs.add(replaced(category::inputs, 512), false);  // a label
  CHECK(work_grows(device_with(4'096, 40'960), inputs, growing_by(4'096), {}));
}

TEST_CASE("a memory bank grows under batches that stay as large as they are") {
  step_inputs inputs;
  inputs.add(replaced(category::inputs, 40'960), false);
  CHECK_FALSE(work_grows(device_with(4'096, 40'960), inputs, growing_by(4'096), {}));
}

TEST_CASE("inputs that are concatenated without more work are kept") {
  step_inputs inputs;
  inputs.add(replaced(category::inputs, 40'960), true);
  CHECK_FALSE(work_grows(device_with(4'096, 4'096), inputs, growing_by(4'096), {}));
}

TEST_CASE("what is no input, or was made once, says nothing of the inputs") {
  step_inputs inputs;
  inputs.add(replaced(category::activations, 40'960), true);
  site_history once;
  once.births.born(0);
  once.now = {40'960, 1};
  once.series.set(0, 40'960, 40'960);
  once.end_step(1);
  inputs.add(once, true);
  CHECK_FALSE(inputs.grow());
}

namespace {

// Six sizes with nine steps each: a table of each that stays, and the most of a step.
struct sizes {
  memtrace::growth::series held;
  memtrace::growth::series peak;
  memtrace::growth::series least;
  sizes(std::uint64_t table, std::uint64_t work, std::uint64_t step_noise = 0,
        std::uint64_t stays = 0) {
    for (std::uint64_t step = 0; step < 54; ++step) {
      held.add(table * ((step + 8) / 9));  // as the step before has left it
      peak.add(1'000'000 + work * (step / 9) + step % 2 * step_noise + stays * (step / 9));
      least.add(1'000 + (table + stays) * ((step + 8) / 9));
    }
  }
};

}  // namespace

TEST_CASE("a table for each size is made where the work has become larger") {
  const sizes larger(4'096, 1'000'000);
  CHECK(made_for_new_sizes(larger.held, larger.peak, larger.least));
}

TEST_CASE("a table for each user is made where nothing else changes") {
  const sizes same(4'096, 4'096);  // the peak has the table in it
  CHECK_FALSE(made_for_new_sizes(same.held, same.peak, same.least));
  const sizes noisy(4'096, 10'000, 1'000'000);
  CHECK_FALSE(made_for_new_sizes(noisy.held, noisy.peak, noisy.least));
  // So is one beside much more that stays, too: a model of which it is a part.
  const sizes part(4'096, 0, 0, 1'000'000);
  CHECK_FALSE(made_for_new_sizes(part.held, part.peak, part.least));
}

TEST_CASE("results of each step of work that grows are no tables") {
  memtrace::growth::series held;
  memtrace::growth::series peak;
  for (std::uint64_t step = 0; step < 54; ++step) {
    held.add(4'096 * step);
    peak.add(1'000'000 * (1 + step));
  }
  CHECK_FALSE(made_for_new_sizes(held, peak, held));
}
