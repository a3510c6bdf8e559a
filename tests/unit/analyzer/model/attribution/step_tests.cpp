// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/attribution/step_series.h"

#include <string_view>

#include "tests/unit/catch.h"

using namespace memtrace;
using attribution::phase;
using attribution::step_boundary;
using attribution::step_series;

namespace {

// D and G: two optimizers' steps; a digit: an allocation that makes the total so high.
[[nodiscard]] attribution::steps_found steps_of(std::string_view story) {
  step_series series;
  std::uint64_t event = 0;
  for (const char what : story) {
    if (what >= '0' && what <= '9') {
      series.observe(event, phase::forward, static_cast<std::uint64_t>(what - '0'));
    } else {
      // A tick takes 10 ns; the event's number is what is left allocated.
      series.optimizer_step({event, 10 * event, event},
                            trace::object_id{static_cast<std::uint32_t>(what)});
    }
    ++event;
  }
  return series.finish(step_boundary::optimizer);
}

[[nodiscard]] std::vector<std::uint64_t> peaks_of(const attribution::steps_found& found) {
  std::vector<std::uint64_t> peaks;
  for (const auto& step : found.steps) peaks.push_back(step.peak);
  return peaks;
}

using numbers = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("GIVEN one optimizer WHEN it steps THEN each is a step with its own peak") {
  const auto found = steps_of("12D3D41D9");
  CHECK(found.boundary == step_boundary::optimizer);
  CHECK(found.count == 3);
  CHECK(peaks_of(found) == numbers{2, 3, 4});
  CHECK(found.steps[0].end_event == 2);
  CHECK(found.steps[2].peak_event == 5);
  CHECK(found.steps[2].peak_in[phase::forward] == 4);
  CHECK(found.steps[2].peak_event_in[phase::forward] == 5);
  CHECK(found.steps[2].peak_in[phase::backward] == 0);
  CHECK(found.steps[1].end_ns == 40);
  CHECK(found.steps[1].left == 4);
}

TEST_CASE("GIVEN optimizers that take turns WHEN they step THEN a round is a step") {
  CHECK(peaks_of(steps_of("1D2G3D1G5D4G")) == numbers{2, 3, 5});
  CHECK(peaks_of(steps_of("1D2D3G1D4D5G")) == numbers{1, 3, 1, 5});
}

TEST_CASE(
    "GIVEN a round of two optimizers WHEN it ends THEN time and what is left are the last one's") {
  const auto found = steps_of("1D2G3D1G");
  REQUIRE(found.steps.size() == 2);
  CHECK(found.steps[0].end_ns == 30);
  CHECK(found.steps[0].left == 3);
}

TEST_CASE("GIVEN an optimizer after another WHEN they step THEN none is lost") {
  CHECK(peaks_of(steps_of("1D2D3G4G")) == numbers{1, 3, 4});
}

TEST_CASE("GIVEN an optimizer's successor WHEN it steps THEN each of its steps is one") {
  CHECK(peaks_of(steps_of("1D2D3D4D5E6E7E")) == numbers{1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("GIVEN steps WHEN an event is looked up THEN its step is the one that it lies before") {
  const auto found = steps_of("1D1D1");
  CHECK(step_of(found, 0) == 0);
  CHECK(step_of(found, 1) == 0);
  CHECK(step_of(found, 2) == 1);
  CHECK_FALSE(step_of(found, 4));
}

TEST_CASE("GIVEN no boundary WHEN finished THEN there are no steps") {
  const auto found = steps_of("12");
  CHECK(found.boundary == step_boundary::none);
  CHECK(found.count == 0);
}
