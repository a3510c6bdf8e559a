// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/attribution/named_phases.h"

#include "tests/unit/catch.h"

using namespace memtrace;
using format::phase_action;
using format::phase_source;

namespace {

void run_phases(attribution::named_phases& phases, phase_source source, std::uint32_t count) {
  for (std::uint32_t name = 1; name <= count; ++name) {
    trace::event head{};
    trace::phase_event record{};
    record.source = source;
    record.name = trace::text_id{name};
    record.action = phase_action::begin;
    phases.on_phase(head, record);
    record.action = phase_action::end;
    phases.on_phase(head, record);
  }
}

}  // namespace

TEST_CASE("GIVEN a suite of tests WHEN each is a phase THEN all are kept") {
  attribution::named_phases phases;
  run_phases(phases, phase_source::user, 4000);
  CHECK(phases.names().size() == 4000);
  run_phases(phases, phase_source::user, 5000);
  CHECK(phases.names().size() == 4096);
  CHECK(phases.begun(0) == 2);
}

TEST_CASE(
    "GIVEN a range of NVTX for each operation THEN the program's own phases keep their room") {
  attribution::named_phases phases;
  run_phases(phases, phase_source::nvtx, 5000);
  CHECK(phases.names().size() == 64);
  run_phases(phases, phase_source::user, 100);
  CHECK(phases.names().size() == 164);
  CHECK(phases.is_nvtx(63));
  CHECK_FALSE(phases.is_nvtx(64));
}
