// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/fragmentation/segment_history.h"
#include "tests/unit/catch.h"
#include "tests/unit/support/made_layouts.h"

namespace memtrace::test {

namespace {

using format::kind;

// Events a microsecond apart.
class told {
 public:
  told() { static_cast<void>(names_.define_text("cudaMalloc")); }

  void segment(kind what, std::uint64_t address, std::uint64_t bytes) {
    trace::allocator_event record;
    record.kind = what;
    record.address = address;
    record.size = bytes;
    history.on_allocator(next(), record);
  }
  void alloc(std::uint64_t bytes) { segment(kind::alloc, 1, bytes); }
  void oom(std::uint64_t bytes) { segment(kind::oom, 0, bytes); }
  void refused() {
    trace::cuda_call_event call;
    call.api = trace::text_id{1};
    call.error = 2;
    history.on_cuda_call(next(), call);
  }
  void operation(format::operation what) {
    trace::operation_event record;
    record.operation = static_cast<std::uint64_t>(what);
    history.on_operation(next(), record);
  }
  [[nodiscard]] const fragmentation::device_history& operator*() const { return history.device(0); }

 private:
  [[nodiscard]] trace::event next() {
    trace::event head;
    head.number = events_++;
    head.time_ns = 1000 * head.number;
    return head;
  }
  trace::dictionary names_;
  std::uint64_t events_ = 0;

 public:
  fragmentation::segment_history history{names_};
};

}  // namespace

TEST_CASE("GIVEN segments WHEN reserved is highest THEN the allocation that needed it is known") {
  told run;
  run.segment(kind::segment_alloc, 1, 20_MiB);  // event 0
  run.alloc(5_MiB);                             // 1
  run.alloc(5_MiB);
  run.segment(kind::segment_alloc, 2, 2_MiB);  // 3
  run.alloc(1_KiB);                            // 4
  run.segment(kind::segment_free, 1, 20_MiB);
  CHECK((*run).peak_reserved == 22_MiB);
  CHECK((*run).peak_event == 4);
  CHECK((*run).reserved == 2_MiB);
  REQUIRE((*run).reserving.size() == 2);
  CHECK((*run).reserving[0].event == 1);
  CHECK((*run).reserving[0].got == 20_MiB);
  CHECK((*run).reserving[0].large);
  CHECK_FALSE((*run).reserving[1].large);
}

TEST_CASE("GIVEN a refusal WHEN memory comes THEN the time between is a retry's") {
  told run;
  run.segment(kind::segment_alloc, 1, 20_MiB);
  run.alloc(5_MiB);
  run.refused();  // event 2
  run.segment(kind::segment_free, 1, 20_MiB);
  run.segment(kind::segment_alloc, 2, 30_MiB);
  run.alloc(30_MiB);  // event 5
  const auto& pressure = (*run).pressure;
  CHECK(pressure.retries == 1);
  CHECK(pressure.retry_ns == 3000);
  CHECK(pressure.segments_freed == 1);
  CHECK(pressure.bytes_freed == 20_MiB);
  CHECK(pressure.bytes_got == 50_MiB);
  CHECK(pressure.driver_calls == 4);
  CHECK(pressure.collections == 0);
}

TEST_CASE("GIVEN a memory fraction WHEN the allocator waits for streams THEN it is a retry") {
  told run;
  run.operation(format::operation::event_synchronize);
  run.alloc(1_MiB);
  CHECK((*run).pressure.retries == 1);
  CHECK((*run).pressure.retry_ns == 1000);
}

TEST_CASE("GIVEN no refusal WHEN an allocation gives segments back THEN it is a collection") {
  told run;
  run.segment(kind::segment_free, 1, 20_MiB);
  run.segment(kind::segment_alloc, 2, 30_MiB);
  run.alloc(30_MiB);
  CHECK((*run).pressure.collections == 1);
  CHECK((*run).pressure.collection_ns == 2000);
  CHECK((*run).pressure.retries == 0);
}

TEST_CASE("GIVEN empty_cache WHEN it gives segments back THEN it is no retry and no collection") {
  told run;
  run.operation(format::operation::empty_cache_begin);
  run.operation(format::operation::event_synchronize);
  run.segment(kind::segment_free, 1, 20_MiB);
  run.operation(format::operation::empty_cache_end);
  run.alloc(1_MiB);
  CHECK((*run).pressure.collections == 0);
  CHECK((*run).pressure.retries == 0);
  CHECK((*run).pressure.segments_freed == 0);
}

TEST_CASE("GIVEN refusals WHEN memory runs out THEN it is one retry") {
  told run;
  run.refused();
  run.refused();
  run.oom(30_MiB);
  run.alloc(1_MiB);
  CHECK((*run).pressure.retries == 1);
  REQUIRE((*run).reserving.size() == 1);
  CHECK((*run).reserving[0].out_of_memory);
}

TEST_CASE("GIVEN expandable segments WHEN pages are mapped THEN they count as got") {
  told run;
  run.segment(kind::segment_map, 1, 20_MiB);
  run.segment(kind::segment_map, 1 + 20_MiB, 20_MiB);
  run.alloc(40_MiB);
  run.segment(kind::segment_unmap, 1, 20_MiB);
  CHECK((*run).reserving[0].got == 40_MiB);
  CHECK((*run).reserved == 20_MiB);
  CHECK((*run).changes.size() == 3);
}

TEST_CASE("GIVEN a device that did nothing WHEN asked for THEN its history is empty") {
  told run;
  CHECK(run.history.device(3).peak_reserved == 0);
}

}  // namespace memtrace::test
