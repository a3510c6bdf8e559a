// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/replay/driver_memory.h"

#include "tests/unit/catch.h"
#include "tests/unit/support/trace_builder.h"

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

namespace {

[[nodiscard]] trace::cuda_call_event physical(std::uint64_t handle, std::uint64_t size) {
  auto call = call_of(0, size);
  call.handle = handle;
  return call;
}
[[nodiscard]] trace::cuda_call_event mapping(std::uint64_t address, std::uint64_t size,
                                             std::uint64_t handle) {
  auto call = call_of(address, size);
  call.handle = handle;
  return call;
}
[[nodiscard]] trace::cuda_call_event by_owner(trace::cuda_call_event call, std::uint32_t owner) {
  call.has_owner = true;
  call.owner = trace::text_id{owner};
  return call;
}

}  // namespace

TEST_CASE(
    "GIVEN physical memory WHEN it is released and unmapped in parts THEN the last one ends it") {
  replay::driver_memory memory;
  const auto head = on_device(0);
  memory.call(head, "cuMemCreate", physical(5, 8_MiB));
  memory.call(head, "cuMemMap", mapping(1_GiB, 8_MiB, 5));
  memory.call(head, "cuMemRelease", physical(5, 0));
  CHECK(memory.on_device(0) == 8_MiB);
  memory.call(head, "cuMemUnmap", call_of(1_GiB, 2_MiB));
  memory.call(head, "cuMemUnmap", call_of(1_GiB + 6_MiB, 2_MiB));
  CHECK(memory.on_device(0) == 8_MiB);
  memory.call(head, "cuMemUnmap", call_of(1_GiB + 2_MiB, 4_MiB));
  CHECK(memory.on_device(0) == 0);
}

TEST_CASE(
    "GIVEN a handle used again while its first memory is mapped WHEN each ends THEN both count") {
  replay::driver_memory memory;
  const auto head = on_device(0);
  memory.call(head, "cuMemCreate", physical(5, 2_MiB));
  memory.call(head, "cuMemMap", mapping(1_GiB, 2_MiB, 5));
  memory.call(head, "cuMemRelease", physical(5, 0));
  memory.call(head, "cuMemCreate", physical(5, 4_MiB));
  CHECK(memory.on_device(0) == 6_MiB);
  memory.call(head, "cuMemUnmap", call_of(1_GiB, 2_MiB));
  CHECK(memory.on_device(0) == 4_MiB);
  memory.call(head, "cuMemRelease", physical(5, 0));
  CHECK(memory.on_device(0) == 0);
}

TEST_CASE("GIVEN a retained handle WHEN released once THEN it is still there") {
  replay::driver_memory memory;
  const auto head = on_device(0);
  memory.call(head, "cuMemCreate", physical(5, 2_MiB));
  memory.call(head, "cuMemMap", mapping(1_GiB, 2_MiB, 5));
  memory.call(head, "cuMemRetainAllocationHandle", mapping(1_GiB, 0, 6));
  memory.call(head, "cuMemUnmap", call_of(1_GiB, 2_MiB));
  memory.call(head, "cuMemRelease", physical(5, 0));
  CHECK(memory.on_device(0) == 2_MiB);
  memory.call(head, "cuMemRelease", physical(6, 0));
  CHECK(memory.on_device(0) == 0);
}

TEST_CASE("GIVEN failed releases by handle WHEN taken back THEN what they named is held") {
  replay::driver_memory memory;
  const auto head = on_device(0);
  const auto undo = [&](std::string_view api, std::uint64_t address, std::uint64_t handle) {
    trace::cuda_undo_event failed;
    failed.address = address;
    failed.handle = handle;
    memory.undo(head, api, failed);
  };
  memory.call(head, "cuMemCreate", physical(5, 2_MiB));
  memory.call(head, "cuMemCreate", physical(6, 4_MiB));
  memory.call(head, "cuMemRelease", physical(5, 0));
  memory.call(head, "cuMemRelease", physical(6, 0));
  undo("cuMemRelease", 0, 5);
  CHECK(memory.on_device(0) == 2_MiB);
  memory.call(head, "cuMemMap", mapping(1_GiB, 2_MiB, 5));
  memory.call(head, "cuMemRelease", physical(5, 0));
  memory.call(head, "cuMemUnmap", call_of(1_GiB, 2_MiB));
  CHECK(memory.on_device(0) == 0);
  undo("cuMemUnmap", 1_GiB, 0);
  CHECK(memory.on_device(0) == 2_MiB);
  memory.call(head, "cuMemUnmap", call_of(1_GiB, 2_MiB));
  CHECK(memory.on_device(0) == 0);
}

TEST_CASE("GIVEN memory in several contexts WHEN one ends THEN what lived in it is gone") {
  replay::driver_memory memory;
  const auto head = on_device(0);
  memory.call(head, "cuMemAlloc_v2", call_of(1_GiB, 2_MiB));
  memory.call(head, "cuMemAlloc_v2", mapping(2_GiB, 4_MiB, 77));
  memory.call(on_device(1), "cuMemAlloc_v2", call_of(3_GiB, 8_MiB));
  memory.call(head, "cuCtxDestroy_v2", physical(77, 0));
  CHECK(memory.on_device(0) == 2_MiB);
  memory.call(head, "cudaDeviceReset", call_of(0, 0));
  CHECK(memory.on_device(0) == 0);
  CHECK(memory.on_device(1) == 8_MiB);
  memory.call(on_device(1), "cuDevicePrimaryCtxRelease_v2", physical(99, 0));
  CHECK(memory.on_device(1) == 0);
}

TEST_CASE(
    "GIVEN memory of libraries and of PyTorch's segments WHEN summed THEN each is its owner's") {
  replay::driver_memory memory;
  const auto head = on_device(0);
  memory.call(head, "cuMemAlloc_v2", by_owner(call_of(1_GiB, 6_MiB), 1));
  memory.call(head, "cuMemAlloc_v2", by_owner(call_of(2_GiB, 4_MiB), 1));
  memory.call(head, "cudaMalloc", call_of(3_GiB, 20_MiB));
  // A MemPool of the program's own allocator: the library's memory is a segment.
  memory.segment(2_GiB, 4_MiB, true);
  memory.segment(3_GiB, 20_MiB, true);
  const auto* const device = memory.device(0);
  REQUIRE(device != nullptr);
  CHECK(device->owners.at({true, trace::text_id{1}}).bytes == 6_MiB);
  CHECK(device->owners.at({}).bytes == 0);
  CHECK(device->in_segments == 24_MiB);
  CHECK(device->owners.at({true, trace::text_id{1}}).peak == 10_MiB);
  memory.segment(3_GiB, 20_MiB, false);
  CHECK(device->in_segments == 4_MiB);
  memory.call(head, "cudaFree", release_of(3_GiB));
  memory.call(head, "cuMemFree_v2", release_of(1_GiB));
  CHECK(device->owners.at({true, trace::text_id{1}}).bytes == 0);
  CHECK(device->bytes == 4_MiB);
}

TEST_CASE("GIVEN expandable segments WHEN mapped THEN their physical memory is PyTorch's") {
  replay::driver_memory memory;
  const auto head = on_device(0);
  memory.call(head, "cuMemCreate", physical(1, 20_MiB));
  memory.call(head, "cuMemMap", mapping(1_GiB, 20_MiB, 1));
  memory.call(head, "cuMemCreate", physical(2, 20_MiB));
  memory.call(head, "cuMemMap", mapping(1_GiB + 20_MiB, 20_MiB, 2));
  memory.segment(1_GiB, 40_MiB, true);
  CHECK(memory.device(0)->in_segments == 40_MiB);
  memory.call(head, "cuMemUnmap", call_of(1_GiB, 20_MiB));
  memory.call(head, "cuMemRelease", physical(1, 0));
  CHECK(memory.device(0)->in_segments == 20_MiB);
  CHECK(memory.device(0)->bytes == 20_MiB);
}

TEST_CASE(
    "GIVEN small and large allocations WHEN rounded THEN each page that they touch is taken") {
  replay::driver_memory memory;
  const auto head = on_device(0);
  memory.call(head, "cudaMalloc", call_of(1_GiB, 512));
  memory.call(head, "cudaMalloc", call_of(1_GiB + 512, 1024));
  CHECK(memory.device(0)->rounding() == 2_MiB - 1536);
  memory.call(head, "cudaMalloc", call_of(2_GiB, 2_MiB + 1));
  CHECK(memory.device(0)->rounding() == 2_MiB - 1536 + 2_MiB - 1);
  memory.call(head, "cudaFree", release_of(1_GiB));
  CHECK(memory.device(0)->rounding() == 2_MiB - 1024 + 2_MiB - 1);
  memory.call(head, "cudaFree", release_of(1_GiB + 512));
  memory.call(head, "cudaFree", release_of(2_GiB));
  CHECK(memory.device(0)->rounding() == 0);
  // A size that no device has: nothing is counted one by one.
  memory.call(head, "cudaMalloc", call_of(4096, ~std::uint64_t{0} - 10));
  memory.call(head, "cudaFree", release_of(4096));
  CHECK(memory.device(0)->rounding() == 0);
}

TEST_CASE("GIVEN foreign, managed and multicast memory WHEN summed THEN the device has no more") {
  replay::driver_memory memory;
  const auto head = on_device(0);
  memory.call(head, "cuIpcOpenMemHandle_v2", call_of(1_GiB, 8_MiB));
  memory.call(head, "cuMemImportFromShareableHandle", physical(3, 8_MiB));
  memory.call(head, "cuMemMap", mapping(2_GiB, 8_MiB, 3));
  memory.call(head, "cuMulticastCreate", physical(4, 8_MiB));
  memory.call(head, "cudaMallocManaged", call_of(3_GiB, 8_MiB));
  CHECK(memory.on_device(0) == 0);
  CHECK(memory.device(0)->managed == 8_MiB);
  memory.call(head, "cudaFree", release_of(3_GiB));
  CHECK(memory.device(0)->managed == 0);
}
