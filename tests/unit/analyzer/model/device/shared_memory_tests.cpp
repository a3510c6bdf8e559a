// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/device/shared_memory.h"

#include "tests/unit/catch.h"

using namespace memtrace;

namespace {

constexpr std::uint64_t mib = 1 << 20;

struct process {
  trace::dictionary names;
  device::shared_memory_collector seen{names};

  void call(const char* api, std::uint64_t address, std::uint64_t size, std::uint64_t handle,
            std::uint64_t error = 0, std::uint32_t device = 0) {
    (void)names.define_text(api);
    ++texts;
    trace::event head;
    head.device = device;
    trace::cuda_call_event record;
    record.api = trace::text_id{texts};
    record.address = address;
    record.size = size;
    record.handle = handle;
    record.error = error;
    seen.on_cuda_call(head, record);
  }

  std::uint32_t texts = 0;
};

}  // namespace

TEST_CASE("GIVEN memory made known to others WHEN by an address inside THEN all of it counts") {
  process owner;
  owner.call("cuMemAlloc_v2", 0x1000, 2 * mib, 0);
  owner.call("cuIpcGetMemHandle", 0x1000 + mib, 0, 77);
  const auto found = owner.seen.found();
  REQUIRE(found.exported.size() == 1);
  CHECK(found.exported[0].handle == 77);
  CHECK(found.exported[0].bytes == 2 * mib);
  CHECK(found.opened.empty());
}

TEST_CASE("GIVEN memory of others WHEN opened twice THEN it is told once") {
  process user;
  user.call("cuIpcOpenMemHandle_v2", 0x9000, 2 * mib, 77, 0, 1);
  user.call("cuIpcCloseMemHandle", 0x9000, 0, 0);
  user.call("cudaIpcOpenMemHandle", 0x9000, 2 * mib, 77, 0, 1);
  user.call("cuMemImportFromShareableHandle", 0, 0, 5);
  const auto found = user.seen.found();
  REQUIRE(found.opened.size() == 2);
  CHECK(found.opened[0].handle == 5);
  CHECK(found.opened[0].bytes == 0);
  CHECK(found.opened[1].handle == 77);
  CHECK(found.opened[1].device == 1);
  CHECK(found.opened[1].bytes == 2 * mib);
}

TEST_CASE("GIVEN memory that is freed or an export that fails WHEN seen THEN nothing is made up") {
  process owner;
  owner.call("cudaMalloc", 0x1000, mib, 0);
  owner.call("cudaIpcGetMemHandle", 0x1000, 0, 76, 1);
  owner.call("cudaFree", 0x1000, 0, 0);
  owner.call("cudaIpcGetMemHandle", 0x1000, 0, 77);
  const auto found = owner.seen.found();
  REQUIRE(found.exported.size() == 1);
  CHECK(found.exported[0].handle == 77);
  CHECK(found.exported[0].bytes == 0);
}
