// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/program_phases.h"

#include "tests/unit/catch.h"

using namespace memtrace;
using format::phase_action;
using format::phase_source;
using report::program_phases;

namespace {

class told {
 public:
  told() {
    for (const auto* name : {"prefill", "decode", "loss"}) (void)names_.define_text(name);
  }
  told& phase(phase_action action, std::uint32_t name, phase_source source = phase_source::user) {
    trace::phase_event record;
    record.action = action;
    record.source = source;
    record.name.value = name;
    seen_.on_phase({}, record);
    return *this;
  }
  told& begin(std::uint32_t name) { return phase(phase_action::begin, name); }
  told& end(std::uint32_t name) { return phase(phase_action::end, name); }
  told& allocated(std::uint64_t event, std::uint64_t bytes, std::int64_t block = 512,
                  std::uint32_t device = 0) {
    trace::event head;
    head.number = event;
    seen_.on_allocator(head, {});
    trace::report_event said;
    said.device = device;
    said.block_bytes = block;
    said.allocated = bytes;
    seen_.on_report(said);
    return *this;
  }
  told& counter(double value) {
    seen_.on_counter({}, {trace::text_id{3}, value});
    return *this;
  }
  [[nodiscard]] const program_phases& seen() const { return seen_; }

 private:
  trace::dictionary names_;
  program_phases seen_{names_};
};

}  // namespace

TEST_CASE("GIVEN nested phases WHEN memory grows THEN each has the highest total while open") {
  told program;
  program.allocated(1, 1000).begin(1).allocated(2, 3000).begin(2).allocated(3, 5000);
  program.end(2).allocated(4, 4000, -512).allocated(5, 4500).end(1).allocated(6, 9000);
  const auto phases = program.seen().phases();
  REQUIRE(phases.size() == 2);
  CHECK(phases[0].name == "prefill");
  CHECK(phases[0].highest.at(0).bytes == 5000);
  CHECK(phases[0].highest.at(0).event == 3);
  CHECK(phases[1].highest.at(0).bytes == 5000);
  CHECK(phases[1].times == 1);
}

TEST_CASE("GIVEN a phase without allocations WHEN it opens THEN what was there counts") {
  told program;
  program.allocated(1, 7000, 512, 1).begin(2).end(2);
  const auto phases = program.seen().phases();
  REQUIRE(phases.size() == 1);
  CHECK(phases[0].highest.size() == 1);
  CHECK(phases[0].highest.at(1).bytes == 7000);
}

TEST_CASE(
    "GIVEN a phase open twice WHEN one ends THEN it is open still; marks and others are none") {
  told program;
  program.phase(phase_action::instant, 1).phase(phase_action::begin, 1, phase_source::backward);
  CHECK(program.seen().phases().empty());
  program.begin(2).begin(2).end(2).allocated(4, 800).end(2).end(2).allocated(5, 900);
  const auto phases = program.seen().phases();
  REQUIRE(phases.size() == 1);
  CHECK(phases[0].times == 2);
  CHECK(phases[0].highest.at(0).bytes == 800);
  program.phase(phase_action::begin, 2, phase_source::nvtx);
  CHECK(program.seen().phases().size() == 2);
  CHECK(program.seen().phases()[1].nvtx);
}

TEST_CASE("GIVEN a counter WHEN set THEN its last, least and greatest value are kept") {
  told program;
  program.counter(0.5).counter(-2).counter(0.25);
  const auto counters = program.seen().counters();
  REQUIRE(counters.size() == 1);
  CHECK(counters[0].name == "loss");
  CHECK(counters[0].times == 3);
  CHECK(counters[0].last == 0.25);
  CHECK(counters[0].least == -2);
  CHECK(counters[0].most == 0.5);
}
