// SPDX-License-Identifier: Apache-2.0
//
// Recordings that agree with the allocator's rules are exact, and each deviation is found.
#include "analyzer/model/allocator/exactness.h"

#include <functional>

#include "tests/unit/analyzer/model/allocator/recorded_run.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::allocator;
using namespace memtrace::test;
using format::kind;
using format::operation;

namespace {

constexpr std::uint64_t a = 0x10000000;
constexpr std::uint64_t b = 0x20000000;
constexpr std::uint64_t space = 0x3000000000;

exactness checked(const std::function<void(recorded_run&)>& records) {
  recorded_run run;
  records(run);
  return compare_with_recording(*run.compile());
}

std::string first_of(const exactness& found) {
  return found.first ? found.first->what : std::string();
}

}  // namespace

TEST_CASE("a recording that follows the rules is exact") {
  const auto found = checked([](recorded_run& run) {
    run.segment(a, 20_MiB).alloc(a, 4_MiB, 4_MiB).alloc(a + 4_MiB, 2_MiB + 1, 2_MiB + 512);
    run.free(a).alloc(a, 3_MiB, 4_MiB);  // a rest of 1 MiB stays with it
    run.segment(b, 2_MiB).alloc(b, 1, 512).free_later(b).complete(b);
    run.operation(operation::empty_cache_begin).release(b, 2_MiB);
    run.operation(operation::empty_cache_end);
  });
  CHECK(found.exact);
  CHECK(first_of(found).empty());
  CHECK(found.compared_totals == 6);
  CHECK(found.replayed.reserved.bytes == 22_MiB);
  CHECK(found.replayed.calls.frees == 1);
}

TEST_CASE("another address, size, segment or total is a difference") {
  const auto address =
      checked([](recorded_run& run) { run.segment(a, 20_MiB).alloc(a + 512, 4_MiB, 4_MiB); });
  CHECK(!address.exact);
  CHECK(first_of(address) == "address of the block");
  CHECK(address.first->event == 1);
  CHECK(address.first->recorded == a + 512);
  CHECK(address.first->replayed == a);
  CHECK(first_of(checked([](recorded_run& run) {
          run.segment(a, 20_MiB).alloc(a, 4_MiB, 5_MiB);
        })) == "allocated bytes");
  CHECK(first_of(checked([](recorded_run& run) {
          run.segment(a, 22_MiB).alloc(a, 4_MiB, 4_MiB);
        })) == "segment's size");
  CHECK(first_of(checked([](recorded_run& run) {
          run.segment(a, 20_MiB).segment(b, 20_MiB).alloc(a, 4_MiB, 4_MiB);
        })) == "segment allocated");
  CHECK(first_of(checked([](recorded_run& run) { run.alloc(a, 4_MiB, 4_MiB); })) ==
        "segment allocated");
  CHECK(first_of(checked([](recorded_run& run) {
          run.segment(a, 20_MiB).alloc(a, 20_MiB, 20_MiB).free(a);
          run.operation(operation::empty_cache_begin).operation(operation::empty_cache_end);
        })) == "segment freed");
}

TEST_CASE("a retry is exact with the calls that failed, and is none without") {
  const auto retry = [](bool fails) {
    return checked([=](recorded_run& run) {
      run.segment(a, 20_MiB).alloc(a, 20_MiB, 20_MiB).free_later(a);
      if (fails) run.call("cudaMalloc", 0, 30_MiB, 2);
      run.operation(operation::event_synchronize);
      run.complete(a).release(a, 20_MiB).segment(b, 30_MiB).alloc(b, 30_MiB, 30_MiB);
    });
  };
  CHECK(retry(true).exact);
  CHECK(retry(true).replayed.retries == 1);
  CHECK(!retry(false).exact);
}

TEST_CASE("failed calls of others are passed over") {
  const auto found = checked([](recorded_run& run) {
    run.call("cudaMalloc", 0, 777_MiB, 2).segment(a, 20_MiB).alloc(a, 4_MiB, 4_MiB);
  });
  CHECK(found.exact);
}

TEST_CASE("out of memory is compared") {
  const auto refused = [](std::uint64_t failing) {
    return checked([=](recorded_run& run) {
      run.call("cudaMalloc", 0, failing, 2).call("cudaMalloc", 0, failing, 2);
      run.entry(kind::oom, 0, 30_MiB);
    });
  };
  CHECK(refused(30_MiB).exact);
  CHECK(!refused(40_MiB).exact);
}

TEST_CASE("expandable segments: what is reserved, mapped and unmapped") {
  const auto run_with = [](std::uint64_t mapped, std::uint64_t reserved_space) {
    return checked([=](recorded_run& run) {
      run.info(format::info_key::alloc_conf, "expandable_segments:True");
      run.call("cuMemAddressReserve", space, reserved_space);
      run.entry(kind::segment_map, space, mapped);
      run.entry(kind::alloc, space, 30_MiB).entry(kind::free_requested, space, 30_MiB);
      run.entry(kind::free_completed, space, 30_MiB);
      run.operation(operation::empty_cache_begin);
      run.entry(kind::segment_unmap, space, mapped).operation(operation::empty_cache_end);
    });
  };
  CHECK(run_with(40_MiB, 1160_MiB).exact);
  CHECK(run_with(40_MiB, 1_MiB).exact);  // somebody else's: the place is known by the map
  CHECK(first_of(run_with(30_MiB, 1160_MiB)) == "bytes mapped");
}

TEST_CASE("without answers nothing is proven") {
  made_requests program;
  program.allocate(1_MiB);
  CHECK(!compare_with_recording(program.log).exact);
}
