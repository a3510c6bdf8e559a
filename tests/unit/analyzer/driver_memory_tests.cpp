// SPDX-License-Identifier: Apache-2.0
#include "analyzer/replay/driver_memory.h"

#include "tests/unit/analyzer/trace_builder.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::test;

namespace {

[[nodiscard]] trace::cuda_call_event call_of(std::uint64_t address, std::uint64_t size) {
  trace::cuda_call_event call;
  call.address = address;
  call.size = size;
  return call;
}
[[nodiscard]] trace::event on_device(std::uint32_t device) {
  trace::event head;
  head.device = device;
  return head;
}
[[nodiscard]] trace::cuda_call_event release_of(std::uint64_t address) {
  auto call = call_of(address, 0);
  call.release = true;
  return call;
}

}  // namespace

TEST_CASE("GIVEN a runtime call with a driver call inside WHEN both are recorded THEN one counts") {
  replay::driver_memory memory;
  memory.call(on_device(0), "cuMemAlloc_v2", call_of(1_GiB, 2_MiB));
  memory.call(on_device(0), "cudaMalloc", call_of(1_GiB, 2_MiB));
  CHECK(memory.on_device(0) == 2_MiB);
  memory.call(on_device(0), "cudaFree", release_of(1_GiB));
  memory.call(on_device(0), "cuMemFree_v2", release_of(1_GiB));
  CHECK(memory.on_device(0) == 0);
}

TEST_CASE("GIVEN a release that failed WHEN it is taken back THEN the memory is still held") {
  replay::driver_memory memory;
  memory.call(on_device(1), "cudaMalloc", call_of(1_GiB, 2_MiB));
  memory.call(on_device(1), "cudaFree", release_of(1_GiB));
  trace::cuda_undo_event undo;
  undo.address = 1_GiB;
  memory.undo(on_device(1), "cudaFree", undo);
  CHECK(memory.on_device(1) == 2_MiB);
}

TEST_CASE("GIVEN failed calls, mappings and pinned memory WHEN summed THEN each where it belongs") {
  replay::driver_memory memory;
  auto failed = call_of(0, 1_GiB);
  failed.error = 2;
  memory.call(on_device(0), "cudaMalloc", failed);
  memory.call(on_device(0), "cuMemAddressReserve", call_of(8_GiB, 4_GiB));
  memory.call(on_device(0), "cuMemMap", call_of(8_GiB, 20_MiB));
  auto physical = call_of(0, 20_MiB);
  physical.handle = 77;
  memory.call(on_device(0), "cuMemCreate", physical);
  memory.call(on_device(0), "cudaHostAlloc", call_of(16_GiB, 1_MiB));
  memory.call(on_device(0), "cudaFreeHost", release_of(16_GiB));
  CHECK(memory.on_device(0) == 20_MiB);
  CHECK(memory.pinned_peak() == 1_MiB);
  auto release = release_of(0);
  release.handle = 77;
  memory.call(on_device(0), "cuMemRelease", release);
  CHECK(memory.on_device(0) == 0);
}

TEST_CASE("GIVEN calls from several places WHEN summed THEN the peak is known by place") {
  replay::driver_memory memory;
  auto head = on_device(0);
  const auto at = [&](std::uint32_t stack, std::uint64_t address, std::uint64_t size) {
    auto call = call_of(address, size);
    call.stack = trace::stack_id{stack};
    ++head.number;
    memory.call(head, "cudaMallocAsync", call);
  };
  at(1, 1_GiB, 3_MiB);
  at(2, 2_GiB, 4_MiB);
  memory.call(head, "cudaFreeAsync", release_of(1_GiB));
  at(3, 3_GiB, 1_MiB);
  const auto* const device = memory.device(0);
  REQUIRE(device != nullptr);
  CHECK(device->peak_bytes == 7_MiB);
  CHECK(device->peak.number == 2);
  const auto sites = device->sites.at_peak();
  REQUIRE(sites.size() == 2);
  CHECK(sites[0].held.bytes == 3_MiB);
  CHECK(sites[1].held.bytes == 4_MiB);
  CHECK(memory.device(1) == nullptr);
}
