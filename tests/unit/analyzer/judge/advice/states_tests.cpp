// SPDX-License-Identifier: Apache-2.0
//
// Pieces about weights, gradients and states, on requests made by hand.
#include <algorithm>

#include "analyzer/judge/advice/pieces.h"
#include "tests/unit/analyzer/judge/advice/small_run.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::advice;
using namespace memtrace::test;
using attribution::category;

namespace {

// Two parameters of a model, named, and `others` after them, all alive to the end.
allocator::request_log requests_of(const std::vector<std::uint64_t>& others) {
  requests program;
  std::uint64_t at = 1;
  for (const auto bytes : {40_MiB, 20_MiB}) program.allocate(at++ << 30, bytes);
  for (const auto bytes : others) program.allocate(at++ << 30, bytes);
  return program.log;
}

struct weights_and : small_run {
  explicit weights_and(const std::vector<std::uint64_t>& others) : small_run(requests_of(others)) {
    of.blocks.change_all([](auto& facts) { facts.what = category::weights; });
    for (std::uint32_t block = 0; block < 2; ++block) {
      of.blocks.change(block, [&](auto& facts) {
        facts.name.value = block + 1;
        facts.root.value = 1;
      });
    }
  }
};

// Allocated at once by the rewritten requests, nothing being freed in them.
[[nodiscard]] std::uint64_t peak_after(const small_run& run, const proposal& what) {
  auto log = run.of.log;
  what.rewrite(log);
  return allocator::replay(log, allocator::as_recorded(log)).allocated.bytes;
}

}  // namespace

TEST_CASE(
    "GIVEN weights of a model's sizes without a name WHEN asked THEN they are a copy to move") {
  const weights_and run({40_MiB, 20_MiB});
  const auto found = weights_copy(run.of);
  REQUIRE(found.size() == 1);
  CHECK(run.of.now.allocated.bytes == 120_MiB);
  CHECK(peak_after(run, found.front()) == 60_MiB);
}

TEST_CASE("GIVEN weights of other sizes WHEN asked THEN nobody calls them a copy") {
  CHECK(weights_copy(weights_and({30_MiB, 50_MiB}).of).empty());
  CHECK(weights_copy(weights_and({}).of).empty());
  // A second model that shares one size by chance.
  CHECK(weights_copy(weights_and({40_MiB, 30_MiB, 50_MiB}).of).empty());
}

TEST_CASE("GIVEN a copy that the agent found WHEN asked THEN it is told of whatever its sizes") {
  weights_and run({30_MiB});
  run.of.blocks.change(2, [](auto& facts) {
    facts.unused_copy = true;
    facts.name.value = 3;
  });
  const auto found = weights_copy(run.of);
  REQUIRE(found.size() == 1);
  CHECK(peak_after(run, found.front()) == 60_MiB);
}

TEST_CASE("GIVEN no optimizer, no buckets and no adapters WHEN asked THEN nothing is proposed") {
  weights_and run({40_MiB});
  run.of.blocks.change_all([](auto& facts) { facts.name = {}; });
  CHECK(optimizer_choice(run.of).empty());
  CHECK(optimizer_form(run.of).empty());
  CHECK(gradient_views(run.of).empty());
  CHECK(lora(run.of).empty());
  CHECK(unused_parameters(run.of).empty());
  CHECK(host_memory(run.of).empty());
}
