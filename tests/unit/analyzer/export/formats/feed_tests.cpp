// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string>

#include "tests/unit/analyzer/export/formats/told.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using attribution::category;
using test::made_up_training;
using test::opened_trace;
using test::told_sink;

namespace {

[[nodiscard]] told_sink::by_category categories_of(const run::memory_view& view) {
  told_sink::by_category found;
  for (const auto& row : view.categories) found[row.what] += row.bytes;
  return found;
}

}  // namespace

TEST_CASE("GIVEN a training WHEN it is told THEN each moment's categories are the report's") {
  std::set<category> seen;
  std::size_t became_outputs = 0;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    CAPTURE(seed);
    const made_up_training run(seed);
    opened_trace trace(run.trace);
    told_sink told;
    REQUIRE_FALSE(trace.tell(told).problem);
    REQUIRE(told.ended);
    REQUIRE(told.moments.size() == run.allocated.size() + 1);  // the segment
    for (const auto& [event, allocated] : run.allocated) {
      CAPTURE(event);
      REQUIRE(told.moments.at(event).allocated == allocated);
      REQUIRE(told.moments.at(event).held.values == told.sums.at(event).values);
      const auto report = trace.load(run::wanted_moment{.event = event, .step = {}, .in = {}});
      REQUIRE(report.devices.at(0).at);
      const auto expected = categories_of(*report.devices[0].at);
      REQUIRE(told.moments.at(event).held.values == expected.values);
      for (std::size_t i = 0; i < attribution::category_count; ++i) {
        if (expected.values[i] != 0) seen.insert(static_cast<category>(i));
      }
    }
    for (const auto& [serial, before, after] : told.changed) {
      CHECK(before == category::activations);
      CHECK(after == category::outputs);
      ++became_outputs;
    }
    const auto report = trace.load();
    const auto& peak = report.devices.at(0).at_peak;
    CHECK(told.moments.at(peak.event).held.values == categories_of(peak).values);
    REQUIRE(told.last.size() == 1);
    CHECK(told.last[0].allocated == run.allocated.rbegin()->second);
  }
  // Otherwise this says nothing.
  CHECK(seen.contains(category::weights));
  CHECK(seen.contains(category::activations));
  CHECK(seen.contains(category::outputs));
  CHECK(seen.contains(category::temporaries));
  CHECK(became_outputs != 0);
}

TEST_CASE("GIVEN a window WHEN it is told THEN its moments are those of the whole run") {
  const made_up_training run(7);
  opened_trace trace(run.trace);
  told_sink whole;
  REQUIRE_FALSE(trace.tell(whole).problem);
  const auto steps = trace.load().devices.at(0).steps.steps;
  REQUIRE(steps.size() == 4);
  exporting::chosen wanted;
  wanted.from = run::wanted_moment{.event = {}, .step = 1, .in = {}};
  wanted.to = run::wanted_moment{.event = {}, .step = 2, .in = {}};
  told_sink part;
  REQUIRE_FALSE(trace.tell(part, wanted).problem);
  CHECK(part.carried_blocks != 0);
  REQUIRE_FALSE(part.moments.empty());
  CHECK(part.moments.begin()->first > steps[0].end_event);
  CHECK(part.moments.rbegin()->first <= steps[2].end_event);
  std::size_t compared = 0;
  for (const auto& [event, moment] : whole.moments) {
    if (event <= steps[0].end_event || event > steps[2].end_event) continue;
    CAPTURE(event);
    REQUIRE(part.moments.contains(event));
    REQUIRE(part.moments.at(event).held.values == moment.held.values);
    REQUIRE(part.sums.at(event).values == moment.held.values);
    ++compared;
  }
  CHECK(compared == part.moments.size());
}

TEST_CASE("GIVEN a moment or a window that is not there WHEN it is told THEN a sentence says so") {
  const made_up_training run(7);
  opened_trace trace(run.trace);
  told_sink told;
  exporting::chosen wanted;
  wanted.from = run::wanted_moment{.event = {}, .step = 40, .in = {}};
  CHECK(trace.tell(told, wanted).problem == "--from step:40: the run has the steps 0 to 3");
  wanted = {};
  wanted.at = run::wanted_moment{.event = {}, .step = 40, .in = {}};
  CHECK(trace.tell(told, wanted).problem == "--at step:40: the run has the steps 0 to 3");
  wanted = {};
  wanted.from = run::wanted_moment{.event = 20, .step = {}, .in = {}};
  wanted.to = run::wanted_moment{.event = 10, .step = {}, .in = {}};
  CHECK(trace.tell(told, wanted).problem == "--from is behind --to; name an earlier event or step");
  CHECK(exporting::rank_of(*trace.reader) == 3);
}

TEST_CASE("GIVEN a free that was not recorded WHEN its address is used again THEN it is told") {
  test::trace_builder trace;
  using test::operator""_MiB;
  const auto address = made_up_training::segment;
  trace.segment(address, 20_MiB).alloc(address, 1000);
  trace.record(format::kind::alloc, address, 3000);
  opened_trace opened(trace);
  told_sink told;
  REQUIRE_FALSE(opened.tell(told).problem);
  REQUIRE(told.live.size() == 1);
  CHECK(told.live.begin()->second.bytes == 3072);
  CHECK(told.live.begin()->second.serial == 1);
}

TEST_CASE("GIVEN a block WHEN it is born THEN everything that is settled later is known already") {
  const made_up_training run(2);
  opened_trace trace(run.trace);

  struct first_births final : exporting::sink {
    void begin(const exporting::process& from) override { process = &from; }
    void happened(const exporting::allocator_event& event, const exporting::block* one,
                  const exporting::moment&) override {
      if (one == nullptr || event.kind != format::kind::alloc) return;
      const auto frames = exporting::frames_outermost_first(*process, one->stack);
      std::string words =
          std::string(name_of(one->what)) + " " + exporting::module_of(*process, *one);
      words += " " + std::string(exporting::name_of(*process, *one)) + " " +
               std::string(name_of(one->born_in));
      REQUIRE(frames.size() == 2);
      CHECK(frames[0].function == "main");
      CHECK(frames[1].line == 9);
      told.push_back(words);
    }
    std::optional<std::string> finish() override { return std::nullopt; }
    const exporting::process* process = nullptr;
    std::vector<std::string> told;
  } births;

  REQUIRE_FALSE(trace.tell(births).problem);
  REQUIRE(births.told.size() > 10);
  CHECK(births.told[0] == "weights Net.layers.0 layers.0.weight setup");
  CHECK(births.told[1] == "activations Net.layers.0  forward");
}
