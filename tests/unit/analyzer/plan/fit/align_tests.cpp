// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/fit/law.h"

#include "tests/unit/analyzer/plan/fit/made_program.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::test;

namespace {

[[nodiscard]] allocator::request_log at_batch(std::uint64_t batch) {
  made_requests made;
  train(made, batch, 3_MiB, 1000, 77);
  return std::move(made.log);
}

}  // namespace

TEST_CASE("Of two batches the requests of any other follow, byte by byte") {
  const auto four = at_batch(4);
  const auto nine = at_batch(9);
  const auto shared = fit::common_allocations(four, nine, {}, {});
  REQUIRE(shared);
  CHECK(*shared == four.blocks());
  for (const std::uint64_t batch : {1, 2, 4, 7, 9, 10, 5000}) {
    const auto truth = at_batch(batch);
    for (const bool from_below : {true, false}) {
      const auto made = from_below ? fit::requests_at(four, 4, nine, 9, *shared, batch)
                                   : fit::requests_at(nine, 9, four, 4, *shared, batch);
      REQUIRE(made.requests.size() == truth.requests.size());
      bool same = true;
      for (std::size_t i = 0; i < truth.requests.size(); ++i) {
        same = same && made.requests[i] == truth.requests[i];
      }
      CHECK(same);
    }
  }
}

TEST_CASE("A run that was ended sooner is laid beside the first part of the other") {
  auto shorter = at_batch(4);
  const auto whole = at_batch(9);
  const auto cut = shorter.blocks() * 3 / 4;
  shorter.requests.shorten(shorter.allocations[cut]);
  shorter.allocations.resize(cut);
  shorter.addresses.resize(cut);
  const auto shared = fit::common_allocations(shorter, whole, {10, cut}, {10, cut, cut + 5});
  REQUIRE(shared);
  CHECK(*shared == cut);
  const auto made = fit::requests_at(whole, 9, shorter, 4, *shared, 20);
  CHECK(made.blocks() == cut);
  CHECK(made.requests.size() == whole.allocations[cut]);
}

TEST_CASE(
    "Requests on another stream, in another pool, or of other numbers are not laid side by side") {
  made_requests one;
  made_requests other;
  one.allocate(1_MiB);
  other.allocate(1_MiB, 1);
  CHECK_FALSE(fit::common_allocations(one.log, other.log, {}, {}));
  made_requests pooled;
  pooled.allocate(1_MiB, 0, 1);
  CHECK_FALSE(fit::common_allocations(one.log, pooled.log, {}, {}));
  made_requests many;
  for (int i = 0; i < 3; ++i) many.allocate(1_MiB);
  CHECK_FALSE(fit::common_allocations(one.log, many.log, {}, {}));
  CHECK(fit::common_allocations(many.log, many.log, {1, 2}, {1, 2, 3}) == 3);
}

TEST_CASE("Two runs that ask for the same are told from two that do not") {
  CHECK(fit::ask_the_same(at_batch(4), at_batch(4)));
  CHECK_FALSE(fit::ask_the_same(at_batch(4), at_batch(5)));
}
