// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/fit/trial.h"

#include "tests/unit/catch.h"

using namespace memtrace;

namespace {

[[nodiscard]] fit::probe ended_after(std::uint64_t steps, bool rose, std::uint64_t reads) {
  fit::probe made;
  made.came = fit::verdict::fits;
  made.steps = steps;
  made.rose_in_last_step = rose;
  made.reads_of_zeros = reads;
  return made;
}

[[nodiscard]] bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("The simulator's line tells how often zeros were read, wherever it stands") {
  CHECK(fit::reads_of_zeros("converged\nmemtrace: simulated GPU: 12 reads of data that no kernel "
                            "computed gave zeros: losses\n") == 12);
  CHECK(fit::reads_of_zeros("memtrace: simulated GPU: 1 read of data that no kernel computed gave "
                            "zeros\nAssertionError") == 1);
  CHECK(fit::reads_of_zeros("of data that no kernel computed") == 0);
  CHECK(fit::reads_of_zeros("simulated GPU: many reads of data that no kernel computed") == 0);
  CHECK(fit::reads_of_zeros("") == 0);
}

TEST_CASE("A run whose peak still rose in its last step is not taken for a long one") {
  CHECK(fit::caution_of(ended_after(12, false, 5)).empty());
  const auto one = fit::caution_of(ended_after(1, true, 3));
  CHECK(has(one, "made one step"));
  CHECK(has(one, "read 3 values"));
  const auto two = fit::caution_of(ended_after(2, true, 0));
  CHECK(has(two, "made 2 steps"));
  CHECK_FALSE(has(two, "zeros"));
}

TEST_CASE("Fewer steps than --steps asks for are said, and a rise at the last of them") {
  auto ran = ended_after(2, false, 1);
  ran.steps_asked = 10;
  CHECK(has(fit::caution_of(ran), "2 steps of the 10"));
  ran.steps = 10;
  ran.stopped_early = true;
  CHECK(fit::caution_of(ran).empty());
  ran.rose_in_last_step = true;
  CHECK(has(fit::caution_of(ran), "give more --steps"));
}

TEST_CASE("Gradients without an optimizer's step are said where values were read") {
  auto ran = ended_after(0, false, 4);
  CHECK(fit::caution_of(ran).empty());
  ran.went_backward = true;
  CHECK(has(fit::caution_of(ran), "never made a step of an optimizer"));
  ran.came = fit::verdict::ran_out;
  CHECK(fit::caution_of(ran).empty());
}
