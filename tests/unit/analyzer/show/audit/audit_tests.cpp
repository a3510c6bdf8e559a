// SPDX-License-Identifier: Apache-2.0
//
// Whole audits, of traces that were written by hand.
#include "analyzer/show/audit/audit.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <span>

#include "tests/unit/catch.h"
#include "tests/unit/support/trace_builder.h"

using namespace memtrace;
using audit::agreement;
using format::operation;
using test::trace_builder;

namespace {

constexpr std::uint64_t second = 1'000'000'000;
constexpr std::uint64_t device_kind = 3, static_kind = 6;

class story {
 public:
  story& listens() {
    trace.operation(operation::witness_state, 1, 0, "1\037130001\037");
    return *this;
  }
  story& stops(std::uint64_t lost = 0) {
    trace.operation(operation::witness_state, 0, lost,
                    fmt::format("{}\037130001\037the program exits", 10 * second));
    return *this;
  }
  // As the hooks and CUPTI saw it. Times are those of the record in both.
  story& allocated(std::uint64_t address, std::uint64_t bytes, const char* api = "cudaMalloc") {
    trace.cuda_call(api, address, bytes);
    return *this;
  }
  story& freed(std::uint64_t address, const char* api = "cudaFree") {
    trace.cuda_call(api, address, 0, format::call_release);
    return *this;
  }
  story& seen(std::uint64_t what, std::uint64_t address, std::uint64_t bytes,
              std::uint64_t kind = device_kind) {
    now += 10;
    trace.operation(operation::witness, address, bytes,
                    fmt::format("{}\037{}\037{}\0371\0371\0371\0370\0371", what, kind,
                                trace_builder::start_ns + now));
    return *this;
  }
  audit::trace_audit judged() {
    const auto bytes = trace.clean_exit();
    trace::memory_source source(std::as_bytes(std::span(bytes)));
    auto reader = trace::reader::open(source);
    REQUIRE(reader);
    return audit::audit_trace("a.mtrace", *reader);
  }

  trace_builder trace;
  std::uint64_t now = 0;
};

}  // namespace

TEST_CASE("Both saw the same", "[audit]") {
  const auto found = story()
                         .listens()
                         .allocated(0x1000, 64)
                         .allocated(0x2000, 32, "cuMemAllocHost_v2")
                         .freed(0x1000)
                         .seen(1, 0x1000, 64)
                         .seen(1, 0x2000, 32, 2)
                         .seen(2, 0x1000, 64)
                         .stops()
                         .judged();
  CHECK(found.verdict == agreement::same);
  CHECK(found.allocations == 2);
  CHECK(found.releases == 1);
  CHECK(found.bytes == 96);
  CHECK(found.ours.bytes == 96);
  CHECK(found.theirs.bytes == 96);
}

TEST_CASE("What one of them missed is told", "[audit]") {
  const auto found = story()
                         .listens()
                         .allocated(0x1000, 64)
                         .seen(1, 0x3000, 16)
                         .seen(2, 0x3000, 16)
                         .stops()
                         .judged();
  CHECK(found.verdict == agreement::different);
  REQUIRE(found.missed_by_cupti.size() == 1);
  CHECK(found.missed_by_cupti[0].seen.address == 0x1000);
  CHECK(found.missed_by_cupti[0].api == "cudaMalloc");
  REQUIRE(found.missed_by_hooks.size() == 2);
  CHECK(found.missed_by_hooks[0].seen.address == 0x3000);
}

TEST_CASE("A failed release is taken back", "[audit]") {
  story one;
  one.listens().allocated(0x1000, 64).freed(0x1000);
  one.trace.cuda_undo("cudaFree", 0x1000);
  CHECK(one.seen(1, 0x1000, 64).stops().judged().verdict == agreement::same);
}

TEST_CASE("Calls that failed, and nulls, are none", "[audit]") {
  story one;
  one.listens().freed(0);
  one.trace.cuda_call("cudaMalloc", 0, 64, format::call_failed, 2);
  CHECK(one.stops().judged().verdict == agreement::nothing);
}

TEST_CASE("What CUPTI has no records of is not compared, but counted", "[audit]") {
  story one;
  one.listens().allocated(0x7000, 64, "cudaHostRegister").freed(0x7000, "cudaHostUnregister");
  one.allocated(0x8000, 128, "cuMemMap").seen(1, 0x9000, 8, static_kind);
  const auto found = one.stops().judged();
  CHECK(found.verdict == agreement::nothing);
  CHECK(found.told.only_hooks.at("registered host memory").bytes == 64);
  CHECK(found.told.only_hooks.at("mapped memory (cuMemMap)").count == 1);
  CHECK(found.told.only_cupti.at("variables of modules").bytes == 8);
}

TEST_CASE("Without a witness there is no verdict", "[audit]") {
  CHECK(story().allocated(0x1000, 64).judged().verdict == agreement::no_witness);
  story refused;
  refused.trace.operation(operation::witness_state, 0, 0, "5\0370\037another profiler holds CUPTI");
  const auto found = refused.judged();
  CHECK(found.verdict == agreement::no_witness);
  CHECK(found.told.reason == "another profiler holds CUPTI");
}

TEST_CASE("What happens while CUPTI does not listen is not compared", "[audit]") {
  story one;
  one.trace.operation(operation::witness_state, 1, 0,
                      fmt::format("{}\037130001\037", trace_builder::start_ns + 8 * second));
  const auto found = one.allocated(0x1000, 64).stops().judged();
  CHECK(found.verdict == agreement::nothing);
  CHECK(found.outside == 1);
}

TEST_CASE("A difference just when CUPTI ends is no difference", "[audit]") {
  story one;
  one.listens().allocated(0x1000, 64);
  one.trace.operation(
      operation::witness_state, 0, 0,
      fmt::format("{}\037130001\037the program exits", trace_builder::start_ns + 5000));
  const auto found = one.judged();
  CHECK(found.verdict == agreement::nothing);
  CHECK(found.at_the_edge == 1);
}

TEST_CASE("A killed program is judged as far as CUPTI's records came", "[audit]") {
  story one;
  one.listens().allocated(0x1000, 64).seen(1, 0x1000, 64);
  const auto found = one.judged();
  CHECK_FALSE(found.told.end_ns);
  CHECK(found.verdict == agreement::same);
}

TEST_CASE("Records that are none are counted", "[audit]") {
  story one;
  one.listens();
  one.trace.operation(operation::witness, 1, 1, "nonsense");
  one.trace.operation(operation::witness_state, 1, 1, "\037\037");
  const auto found = one.stops().judged();
  CHECK(found.told.unreadable == 2);
}

TEST_CASE("Pools are counted on both sides", "[audit]") {
  story one;
  one.listens().allocated(0x11, 0, "cuMemPoolCreate").seen(11, 0x11, 0, 0).seen(12, 0x11, 0, 0);
  one.freed(0x11, "cuMemPoolDestroy");
  const auto found = one.stops().judged();
  CHECK(found.told.pools_made[0] == 1);
  CHECK(found.told.pools_made[1] == 1);
  CHECK(found.told.pools_destroyed[0] == 1);
  CHECK(found.told.pools_destroyed[1] == 1);
}

TEST_CASE("Busy time and migration are read from the counters", "[audit]") {
  std::map<std::uint32_t, device::device_activity> devices;
  CHECK(device::add_counter(devices, "memtrace.device.3.busy", 5e6));
  CHECK(device::add_counter(devices, "memtrace.device.3.migrated_out", 4096));
  CHECK(devices.at(3).busy_ns == 5'000'000);
  CHECK(devices.at(3).migrated_out == 4096);
  for (const auto* const other : {"memtrace.device.3.used", "memtrace.device..busy",
                                  "memtrace.device.999.busy", "busy", "memtrace.device.3.busy2"}) {
    CHECK_FALSE(device::add_counter(devices, other, 1));
  }
  CHECK_FALSE(device::add_counter(devices, "memtrace.device.1.busy", -1));
  CHECK_FALSE(device::add_counter(devices, "memtrace.device.1.busy", 1e300));
  CHECK(devices.size() == 1);
}

TEST_CASE("Texts and documents of an audit", "[audit]") {
  const auto found = story().listens().allocated(0x1000, 64).stops().judged();
  const auto text = audit::to_text(found, 0, {});
  CHECK(text.find("missed by CUPTI: 1") != text.npos);
  CHECK(text.find("different") != text.npos);
  const auto document = audit::to_json({found});
  CHECK(document["traces"][0]["verdict"] == "different");
}
