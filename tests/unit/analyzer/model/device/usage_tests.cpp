// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "analyzer/model/device/usage_collector.h"
#include "analyzer/model/device/usage_sums.h"
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

namespace {

// One device whose `used` is looked at now and then, and NVML's word in between.
class watched_device {
 public:
  watched_device() {
    for (const char* const name :
         {"cuModuleLoadData", "cuModuleUnload", "memtrace.device.0.used",
          "memtrace.device.0.others", "memtrace.device.0.others_and_context",
          "memtrace.device.0.context", "memtrace.device.0.own"}) {
      REQUIRE(names_.define_text(name) == trace::dictionary::outcome::defined);
    }
  }
  void load(std::uint64_t handle) { call(1, handle, false); }
  void unload(std::uint64_t handle) { call(2, handle, true); }
  // A moment: in use, and what is told with it.
  void used(std::uint64_t bytes, std::optional<std::uint64_t> others_and_context = {}) {
    head_.time_ns += 10;
    count(3, bytes);
    if (others_and_context) count(5, *others_and_context);
  }
  void others(std::uint64_t bytes, std::uint64_t after_ns = 1) {
    head_.time_ns += after_ns;
    count(4, bytes);
  }
  void context(std::uint64_t bytes) { count(6, bytes); }
  // A look of NVML's at this process and the others.
  void look(std::uint64_t own, std::uint64_t others) {
    ++head_.time_ns;
    count(7, own);
    count(4, others);
  }
  [[nodiscard]] device::usage sum() const {
    const auto found = uses_.finish();
    REQUIRE(found.contains(0));
    return found.at(0);
  }

 private:
  void count(std::uint32_t name, std::uint64_t bytes) {
    both(trace::counter_event{trace::text_id{name}, static_cast<double>(bytes)},
         &trace::record_visitor::on_counter);
  }
  void call(std::uint32_t api, std::uint64_t handle, bool release) {
    trace::cuda_call_event made;
    made.api = trace::text_id{api};
    made.handle = handle;
    made.release = release;
    both(made, &trace::record_visitor::on_cuda_call);
  }
  void both(const auto& record, auto member) {
    ++head_.number;
    (static_cast<trace::record_visitor&>(replayed_).*member)(head_, record);
    (static_cast<trace::record_visitor&>(uses_).*member)(head_, record);
  }

  trace::dictionary names_;
  replay::replayer replayed_{names_};
  device::usage_collector uses_{names_, replayed_};
  trace::event head_;
};

}  // namespace

TEST_CASE(
    "GIVEN no word of other processes WHEN summed up THEN they and the context are one part") {
  watched_device gpu;
  gpu.used(300_MiB, 300_MiB);
  const auto found = gpu.sum();
  CHECK(bytes_of(found, part_name::context_and_others) == 300_MiB);
  CHECK(found.unexplained == 0);
}

TEST_CASE("GIVEN a word of other processes after the highest moment WHEN summed up THEN both") {
  watched_device gpu;
  gpu.used(300_MiB, 300_MiB);
  gpu.others(44_MiB);
  const auto found = gpu.sum();
  CHECK(bytes_of(found, part_name::context) == 256_MiB);
  CHECK(bytes_of(found, part_name::others) == 44_MiB);
  CHECK(found.unexplained == 0);
}

TEST_CASE("GIVEN two words of other processes WHEN summed up THEN the nearer in time counts") {
  for (const bool later_is_nearer : {true, false}) {
    watched_device gpu;
    gpu.others(44_MiB);
    gpu.used(400_MiB);
    gpu.context(256_MiB);
    gpu.others(144_MiB, later_is_nearer ? 1 : 1000);
    const auto found = gpu.sum();
    CHECK(bytes_of(found, part_name::others) == (later_is_nearer ? 144_MiB : 44_MiB));
    CHECK(found.unexplained == (later_is_nearer ? 0 : std::int64_t{100_MiB}));
  }
}

TEST_CASE("GIVEN modules WHEN they come and go THEN what is used beside all else is theirs") {
  watched_device gpu;
  gpu.load(1);  // before anything is known: the context's
  gpu.used(260_MiB, 260_MiB);
  gpu.load(2);
  gpu.used(264_MiB, 260_MiB);
  gpu.load(3);
  gpu.unload(2);
  gpu.load(4);
  gpu.used(267_MiB, 260_MiB);
  const auto found = gpu.sum();
  CHECK(bytes_of(found, part_name::modules) == 7_MiB);
  CHECK(bytes_of(found, part_name::context_and_others) == 260_MiB);
  CHECK(found.unexplained == 0);
}

TEST_CASE("GIVEN growth without a module WHEN summed up THEN it stays unexplained") {
  watched_device gpu;
  gpu.used(260_MiB, 260_MiB);
  gpu.used(263_MiB, 260_MiB);
  gpu.load(1);
  gpu.used(265_MiB, 260_MiB);
  const auto found = gpu.sum();
  CHECK(bytes_of(found, part_name::modules) == 2_MiB);
  CHECK(found.unexplained == std::int64_t{3_MiB});
}

TEST_CASE("GIVEN a module and another process's growth WHEN summed up THEN neither is guessed") {
  watched_device gpu;
  gpu.used(260_MiB, 260_MiB);
  gpu.others(4_MiB);
  gpu.load(1);
  gpu.used(290_MiB);
  gpu.context(256_MiB);
  SECTION("they did not grow") {
    gpu.others(4_MiB);
    CHECK(bytes_of(gpu.sum(), part_name::modules) == 30_MiB);
    CHECK(gpu.sum().unexplained == 0);
  }
  SECTION("they did") {
    gpu.others(24_MiB);
    CHECK(bytes_of(gpu.sum(), part_name::modules) == 0);
    CHECK(bytes_of(gpu.sum(), part_name::others) == 24_MiB);
    CHECK(gpu.sum().unexplained == std::int64_t{10_MiB});
  }
  SECTION("nobody says") {
    CHECK(bytes_of(gpu.sum(), part_name::modules) == 30_MiB);
  }
}

TEST_CASE("GIVEN a GPU that others use WHEN they grow THEN this process has what NVML says of it") {
  watched_device gpu;
  gpu.used(1000_MiB, 1000_MiB);
  gpu.look(300_MiB, 600_MiB);  // the driver counts 100 MiB more for them than NVML
  CHECK(bytes_of(gpu.sum(), part_name::context) == 400_MiB);
  gpu.load(1);
  gpu.used(3000_MiB);
  gpu.context(400_MiB);
  gpu.look(310_MiB, 2590_MiB);
  const auto later = gpu.sum();
  CHECK(bytes_of(later, part_name::context) == 300_MiB);
  CHECK(bytes_of(later, part_name::others) == 2690_MiB);
  CHECK(bytes_of(later, part_name::modules) + static_cast<std::uint64_t>(later.unexplained) ==
        10_MiB);
}
