// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "analyzer/device/usage_collector.h"
#include "analyzer/device/usage_sums.h"
#include "tests/unit/catch.h"
#include "tests/unit/support/trace_builder.h"

using namespace memtrace;
using namespace memtrace::test;

namespace {

namespace part_name = device::part_name;

[[nodiscard]] std::uint64_t bytes_of(const device::usage& given, std::string_view part) {
  for (const auto& one : given.parts) {
    if (one.name == part) return one.bytes;
  }
  return 0;
}

[[nodiscard]] std::uint64_t sum_of(const device::usage& given) {
  std::uint64_t sum = 0;
  for (const auto& one : given.parts) sum += one.bytes;
  return sum;
}

// A device of 24 GiB, of which 1 GiB was in use before the first segment.
[[nodiscard]] trace::device_facts facts() {
  trace::device_facts made;
  made.total_bytes = 24_GiB;
  made.free_before_first_segment = 23_GiB;
  return made;
}

}  // namespace

TEST_CASE(
    "GIVEN all that is known of a moment WHEN summed up THEN used is the parts and the rest") {
  trace::dictionary names;
  REQUIRE(names.define_text("libnccl.so.2") == trace::dictionary::outcome::defined);
  REQUIRE(names.define_text("") == trace::dictionary::outcome::defined);
  device::held known;
  known.has_allocator = true;
  known.allocated = 3_GiB;
  known.reserved = 4_GiB;
  known.in_segments = 4_GiB;
  known.from_pools = 32_MiB;
  known.modules = 16_MiB;
  known.rounding = 1_MiB;
  known.owners = {
      {{true, trace::text_id{1}}, 512_MiB}, {{true, trace::text_id{2}}, 64_MiB}, {{}, 2_MiB}};
  device::counted told;
  told.used = 8_GiB;
  told.others = 1_GiB;
  told.pools = 96_MiB;
  told.graphs = 8_MiB;
  told.context = 256_MiB;
  const auto found = device::usage_of(told, known, facts(), names);
  CHECK(bytes_of(found, part_name::pytorch_allocated) == 3_GiB);
  CHECK(bytes_of(found, part_name::pytorch_cached) == 1_GiB);
  CHECK(bytes_of(found, part_name::pytorch_direct) == 2_MiB);
  CHECK(bytes_of(found, "library:libnccl.so.2") == 512_MiB);
  CHECK(bytes_of(found, part_name::program) == 64_MiB);
  CHECK(bytes_of(found, part_name::pools) == 64_MiB);
  CHECK(bytes_of(found, part_name::graphs) == 8_MiB);
  CHECK(bytes_of(found, part_name::modules) == 16_MiB);
  CHECK(bytes_of(found, part_name::context) == 256_MiB);
  CHECK(bytes_of(found, part_name::context_and_others) == 0);
  CHECK(bytes_of(found, part_name::others) == 1_GiB);
  CHECK(found.unexplained == static_cast<std::int64_t>(8_GiB - sum_of(found)));
  CHECK(sum_of(found) ==
        5_GiB + 512_MiB + 64_MiB + 2_MiB + 64_MiB + 8_MiB + 16_MiB + 1_MiB + 256_MiB);
  CHECK(found.parts.front().name == part_name::pytorch_allocated);
}

TEST_CASE("GIVEN no word of NVML WHEN summed up THEN context and other processes are one part") {
  const trace::dictionary names;
  device::held known;
  known.has_allocator = true;
  known.allocated = known.reserved = 1_GiB;
  device::counted told;
  told.used = 1_GiB + 512_MiB;
  const auto found = device::usage_of(told, known, facts(), names);
  CHECK(bytes_of(found, part_name::context_and_others) == 1_GiB);
  CHECK(found.unexplained == -static_cast<std::int64_t>(512_MiB));
}

TEST_CASE("GIVEN no caching allocator WHEN summed up THEN calls without an owner are PyTorch's") {
  const trace::dictionary names;
  device::held known;
  known.owners = {{{}, 3_MiB}};
  known.from_pools = 3_MiB;
  device::counted told;
  told.used = 32_MiB + 1_GiB;
  told.pools = 32_MiB;
  const auto found = device::usage_of(told, known, facts(), names);
  CHECK(bytes_of(found, part_name::pytorch_allocated) == 3_MiB);
  CHECK(bytes_of(found, part_name::pools) == 29_MiB);
  CHECK(found.unexplained == 0);
}

TEST_CASE("GIVEN names of counters WHEN parsed THEN device and suffix come apart") {
  const auto good = device::parse_counter("memtrace.device.12.used");
  REQUIRE(good.has_value());
  CHECK(good->device == 12);
  CHECK(good->suffix == ".used");
  CHECK_FALSE(device::parse_counter("memtrace.device.x.used").has_value());
  CHECK_FALSE(device::parse_counter("memtrace.device.99999999999.used").has_value());
  CHECK_FALSE(device::parse_counter("memtrace.device.1").has_value());
  CHECK_FALSE(device::parse_counter("memtrace.host.rss").has_value());
}

TEST_CASE(
    "GIVEN a look before PyTorch tells of its segment WHEN summed up THEN the segment is its own") {
  trace::dictionary names;
  using outcome = trace::dictionary::outcome;
  REQUIRE(names.define_text("cudaMalloc") == outcome::defined);
  REQUIRE(names.define_text("memtrace.device.0.used") == outcome::defined);
  REQUIRE(names.define_text("memtrace.device.0.context") == outcome::defined);
  replay::replayer replayed(names);
  device::usage_collector uses(names, replayed);
  trace::event head;
  const auto both = [&](const auto& record, auto member) {
    ++head.number;
    (static_cast<trace::record_visitor&>(replayed).*member)(head, record);
    (static_cast<trace::record_visitor&>(uses).*member)(head, record);
  };
  const auto count = [&](std::uint32_t name, std::uint64_t bytes) {
    both(trace::counter_event{trace::text_id{name}, static_cast<double>(bytes)},
         &trace::record_visitor::on_counter);
  };
  trace::cuda_call_event call;
  call.api = trace::text_id{1};
  call.address = 1_GiB;
  call.size = 20_MiB;
  both(call, &trace::record_visitor::on_cuda_call);
  count(2, 276_MiB);
  count(3, 256_MiB);
  trace::allocator_event segment;
  segment.kind = format::kind::segment_alloc;
  segment.address = 1_GiB;
  segment.size = 20_MiB;
  both(segment, &trace::record_visitor::on_allocator);
  segment.kind = format::kind::alloc;
  segment.size = 3_MiB;
  both(segment, &trace::record_visitor::on_allocator);
  const trace::report_event told{0, 1_GiB, 3_MiB, 3_MiB, 20_MiB};
  replayed.on_report(told);
  uses.on_report(told);
  const auto found = uses.finish();
  REQUIRE(found.contains(0));
  CHECK(bytes_of(found.at(0), part_name::pytorch_allocated) == 3_MiB);
  CHECK(bytes_of(found.at(0), part_name::pytorch_cached) == 17_MiB);
  CHECK(bytes_of(found.at(0), part_name::pytorch_direct) == 0);
  CHECK(found.at(0).unexplained == 0);
}
