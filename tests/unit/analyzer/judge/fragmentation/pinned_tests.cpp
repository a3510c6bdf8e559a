// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/fragmentation/pinned_host.h"
#include "tests/unit/catch.h"
#include "tests/unit/support/made_layouts.h"

namespace memtrace::test {

namespace {

class pinning {
 public:
  void got(std::uint64_t address, std::uint64_t bytes) { call("cudaHostAlloc", address, bytes); }
  void gave_back(std::uint64_t address) { call("cudaFreeHost", address, 0); }
  void copied(std::uint64_t bytes) {
    trace::storage_event told;
    told.role = format::storage_role::host_copy;
    told.bytes = bytes;
    copies_.on_storage({}, told);
  }
  [[nodiscard]] fragmentation::pinned_host found() const {
    return look_at_pinned(driver_, names_, copies_);
  }

 private:
  void call(const char* api, std::uint64_t address, std::uint64_t bytes) {
    trace::cuda_call_event record;
    record.address = address;
    record.size = bytes;
    record.release = bytes == 0;
    driver_.call({}, api, record);
  }
  replay::driver_memory driver_;
  fragmentation::host_copies copies_;
  trace::dictionary names_;
};

}  // namespace

TEST_CASE("GIVEN pinned buffers WHEN looked at THEN rounding is at most half of PyTorch's own") {
  pinning run;
  run.got(1, 64_MiB);
  run.gave_back(1);
  run.got(2, 64_MiB);
  run.got(3, 256_MiB);
  run.got(4, 3_MiB);  // not PyTorch's
  run.gave_back(3);
  const auto found = run.found();
  CHECK(found.peak == 323_MiB);
  CHECK(found.buffers == 3);
  CHECK(found.powers_of_two == 320_MiB);
  CHECK(found.rounding_at_most == 160_MiB - 2);
  CHECK_FALSE(found.rounding_estimated);
  REQUIRE(found.sites.size() == 1);
  CHECK(found.sites[0].buffers == 3);
}

TEST_CASE("GIVEN copies to the device WHEN buffers are looked at THEN rounding is estimated") {
  pinning run;
  run.got(1, 64_MiB);
  run.got(2, 256_MiB);
  run.copied(40_MiB);
  run.copied(33_MiB);
  run.copied(64_MiB + 1);  // would need 128 MiB
  CHECK(run.found().rounding_estimated == 24_MiB);
  run.copied(64_MiB);
  CHECK(run.found().rounding_estimated == 0);
}

TEST_CASE("GIVEN nothing pinned WHEN looked at THEN there is nothing") {
  const pinning run;
  CHECK(run.found().peak == 0);
  CHECK(run.found().sites.empty());
}

}  // namespace memtrace::test
