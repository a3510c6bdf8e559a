// SPDX-License-Identifier: Apache-2.0
//
// Blocks whose physical memory is taken away while they live: what is resident counts, and owners
// stay.
#include "tests/unit/analyzer/model/attribution/attributed.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::test;

namespace {

constexpr std::uint64_t a = 0x7f0000000000;
constexpr std::uint64_t b = 0x7e0000000000;

// Two pieces of 8 MiB behind a block of a pool, and then a segment of 64 MiB for others.
class engine {
 public:
  trace_builder trace;

  engine() {
    fill(a);
    fill(a + 8_MiB);
    trace.segment(a, 16_MiB).alloc(a, 16_MiB, 0);
    trace.cuda_call("cudaMalloc", b, 64_MiB).segment(b, 64_MiB);
  }
  engine& fill(std::uint64_t at) {
    trace.cuda_call("cuMemCreate", at, 8_MiB).cuda_call("cuMemMap", at, 8_MiB);
    return *this;
  }
  engine& empty(std::uint64_t at) {
    trace.cuda_call("cuMemUnmap", at, 8_MiB, format::call_release);
    trace.cuda_call("cuMemRelease", at, 0, format::call_release);
    return *this;
  }
};

[[nodiscard]] const replay::device_replay& allocator_of(const attributed& run) {
  return run.replayed().device(0)->allocator;
}

// What calls hold is what PyTorch has reserved and is resident, with nothing beside it.
void check_sums(const attributed& run) {
  const auto* const calls = run.replayed().driver().device(0);
  CHECK(calls->in_segments == calls->bytes);
  CHECK(calls->bytes == allocator_of(run).totals().reserved);
  CHECK(run.peak().total == allocator_of(run).peak_allocated().totals.allocated);
  std::uint64_t sum = 0;
  for (const auto& group : run.peak().groups) sum += group.held.bytes;
  CHECK(sum == run.peak().total);
}

}  // namespace

TEST_CASE("GIVEN a block that sleeps WHEN others are made THEN the peak has what is resident") {
  engine made;
  made.empty(a).empty(a + 8_MiB);
  made.trace.alloc(b, 20_MiB).free(b);
  made.fill(a).fill(a + 8_MiB);
  const attributed run(made.trace);
  CHECK(run.peak().total == 20_MiB);
  CHECK(run.peak().groups.size() == 1);
  CHECK(allocator_of(run).totals().allocated == 16_MiB);
  CHECK(allocator_of(run).totals().asleep == 0);
  CHECK(allocator_of(run).mismatches() == 0);
  CHECK(allocator_of(run).sleep().most == 16_MiB);
  CHECK(allocator_of(run).sleep().times == 1);
  check_sums(run);
}

TEST_CASE("GIVEN a block of which a half sleeps WHEN others are made THEN its other half counts") {
  engine made;
  made.empty(a);
  made.trace.alloc(b, 20_MiB);
  const attributed run(made.trace);
  CHECK(run.peak().total == 28_MiB);
  CHECK(allocator_of(run).totals().asleep == 8_MiB);
  CHECK(allocator_of(run).most_asleep().size() == 1);
  CHECK(allocator_of(run).most_asleep().front().held.bytes == 8_MiB);
  check_sums(run);
}

TEST_CASE("GIVEN a block that wakes up beside others WHEN most is resident THEN that is the peak") {
  engine made;
  made.empty(a).empty(a + 8_MiB);
  made.trace.alloc(b, 20_MiB);
  made.fill(a).fill(a + 8_MiB);
  made.empty(a).empty(a + 8_MiB);
  const attributed run(made.trace);
  CHECK(run.peak().total == 36_MiB);
  CHECK(allocator_of(run).totals().allocated == 20_MiB);
  CHECK(allocator_of(run).sleep().times == 2);
  check_sums(run);
}

TEST_CASE("GIVEN a sleeping block WHEN it is freed THEN nothing is asleep any more") {
  engine made;
  made.empty(a).empty(a + 8_MiB);
  made.trace.free(a).record(format::kind::segment_free, a, 16_MiB).alloc(b, 20_MiB);
  const attributed run(made.trace);
  CHECK(run.peak().total == 20_MiB);
  CHECK(allocator_of(run).totals().asleep == 0);
  CHECK(allocator_of(run).totals().asleep_reserved == 0);
  CHECK(allocator_of(run).totals().allocated == 20_MiB);
}

TEST_CASE("GIVEN an unmapping that failed WHEN it is taken back THEN the block is resident") {
  engine made;
  made.trace.cuda_call("cuMemUnmap", a, 8_MiB, format::call_release).cuda_undo("cuMemUnmap", a);
  made.trace.alloc(b, 20_MiB);
  const attributed run(made.trace);
  CHECK(run.peak().total == 36_MiB);
  CHECK(allocator_of(run).totals().asleep == 0);
  check_sums(run);
}

TEST_CASE("GIVEN memory that is unmapped and not released WHEN summed THEN who holds it has it") {
  engine made;
  made.trace.cuda_call("cuMemUnmap", a, 8_MiB, format::call_release);
  const attributed run(made.trace);
  const auto* const calls = run.replayed().driver().device(0);
  CHECK(allocator_of(run).totals().reserved == 72_MiB);
  CHECK(calls->in_segments == 72_MiB);
  CHECK(calls->bytes == 80_MiB);
}

TEST_CASE("GIVEN an expandable segment WHEN PyTorch unmaps a part THEN nothing of it slept") {
  trace_builder trace;
  trace.cuda_call("cuMemCreate", a, 2_MiB).cuda_call("cuMemMap", a, 2_MiB);
  trace.record(format::kind::segment_map, a, 2_MiB).alloc(a, 2_MiB).free(a);
  trace.cuda_call("cuMemUnmap", a, 2_MiB, format::call_release);
  trace.cuda_call("cuMemRelease", a, 0, format::call_release);
  trace.record(format::kind::segment_unmap, a, 2_MiB);
  const attributed run(trace);
  CHECK(run.peak().total == 2_MiB);
  CHECK(allocator_of(run).sleep().most == 0);
  CHECK(allocator_of(run).totals().reserved == 0);
}
