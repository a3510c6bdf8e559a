// SPDX-License-Identifier: Apache-2.0
//
// Blocks that lived when a gap began: which of them are freed afterwards, and when.
#include "analyzer/trace/reader/drop_recovery.h"

#include <string>
#include <vector>

#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::trace;
using format::kind;

namespace {

struct noted final : record_visitor {
  void on_allocator(const event&, const allocator_event& record) override {
    note((record.kind == kind::alloc            ? "+"
          : record.kind == kind::free_requested ? "-"
          : record.kind == kind::free_completed ? "."
                                                : "s") +
         std::to_string(record.address));
  }
  void on_reported(const event&, const reported_event& record) override {
    note((record.is_alloc ? "r+" : "r-") + std::to_string(record.address));
  }
  void on_report(const report_event& report) override {
    note("=" + std::to_string(report.allocated));
  }
  void on_phase(const event& head, const phase_event& record) override {
    note((record.action == format::phase_action::begin ? "(" : ")") +
         std::to_string(head.thread.value));
  }
  void note(const std::string& what) { seen += (seen.empty() ? "" : " ") + what; }
  std::string seen;
};

struct told {
  noted seen;
  drop_recovery mender{seen, 1000};
  event head;

  void allocator(kind what, std::uint64_t address, std::uint64_t size = 512) {
    ++head.number;
    allocator_event record;
    record.kind = what;
    record.address = address;
    record.size = size;
    mender.on_allocator(head, record);
  }
  void alloc(std::uint64_t address, std::uint64_t size = 512) {
    allocator(kind::alloc, address, size);
  }
  void free(std::uint64_t address) {
    allocator(kind::free_requested, address);
    allocator(kind::free_completed, address);
  }
  void report(std::uint64_t address, std::int64_t block, std::uint64_t allocated) {
    report_event record;
    record.address = address;
    record.block_bytes = block;
    record.allocated = allocated;
    mender.on_report(record);
  }
  void gap() {
    seen.seen.clear();
    head.time_ns = 9000;
    operation_event record;
    record.operation = static_cast<std::uint64_t>(format::operation::gap);
    record.a = 7;
    record.b = 6000;
    mender.on_operation(head, record);
  }
  void phase(format::phase_action action, std::uint32_t thread) {
    head.thread.value = thread;
    mender.on_phase(head, {.action = action, .source = format::phase_source::user});
  }
};

}  // namespace

TEST_CASE("without a gap everything passes as it is") {
  told trace;
  trace.free(4096);  // from before the recording
  trace.alloc(512);
  trace.alloc(512);
  trace.report(512, 512, 100);
  CHECK(trace.seen.seen == "-4096 .4096 +512 +512 =100");
  CHECK(trace.mender.gaps().empty());
}

TEST_CASE("a gap says how many events, and from when to when") {
  told trace;
  trace.gap();
  REQUIRE(trace.mender.gaps().size() == 1);
  CHECK(trace.mender.gaps()[0].events == 7);
  CHECK(trace.mender.gaps()[0].begin_ns == 5000);
  CHECK(trace.mender.gaps()[0].end_ns == 9000);
}

TEST_CASE("a block was freed in the gap if its memory is used again") {
  told trace;
  trace.alloc(1024, 1024);
  trace.alloc(8192);
  trace.gap();
  trace.alloc(1536);  // in the middle of it
  trace.free(8192);   // this one lived on
  CHECK(trace.seen.seen == "-1024 .1024 +1536 -8192 .8192");
}

TEST_CASE("a block was freed in the gap if its segment is given back") {
  told trace;
  trace.alloc(1024);
  trace.alloc(8192);
  trace.gap();
  trace.allocator(kind::segment_free, 0, 4096);
  CHECK(trace.seen.seen == "-1024 .1024 s0");
}

TEST_CASE("the youngest were freed in the gap if the allocator says that less is allocated") {
  told trace;
  for (std::uint64_t i = 1; i <= 4; ++i) trace.alloc(i * 512);
  trace.gap();
  trace.alloc(8192);
  trace.report(8192, 1024, 512 * 2 + 1024);  // two of the four
  CHECK(trace.seen.seen == "+8192 -2048 .2048 -1536 .1536 =2048");
}

TEST_CASE("the end of a block that came in a gap is not passed on, but its totals are") {
  told trace;
  trace.gap();
  trace.free(512);
  trace.report(512, -512, 4096);
  CHECK(trace.seen.seen == "=4096");
}

TEST_CASE("a block that was waiting for a stream is not requested twice") {
  told trace;
  trace.alloc(512);
  trace.allocator(kind::free_requested, 512);
  trace.gap();
  trace.alloc(512);
  CHECK(trace.seen.seen == ".512 +512");
}

TEST_CASE("phases end with the gap that they were open in") {
  told trace;
  trace.phase(format::phase_action::begin, 1);
  trace.phase(format::phase_action::begin, 2);
  trace.phase(format::phase_action::end, 2);
  trace.gap();
  trace.phase(format::phase_action::end, 1);
  CHECK(trace.seen.seen == ")1");
}

TEST_CASE("without the tracker's events it is the same") {
  told trace;
  trace.mender.on_reported(trace.head, {.is_alloc = true, .address = 512, .block_bytes = 512});
  trace.gap();
  trace.mender.on_reported(trace.head, {.is_alloc = false, .address = 4096, .block_bytes = 512});
  trace.mender.on_reported(trace.head, {.is_alloc = true, .address = 512, .block_bytes = 1024});
  CHECK(trace.seen.seen == "r-512 r+512");
}
