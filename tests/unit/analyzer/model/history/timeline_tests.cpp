// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/history/timeline.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "tests/unit/catch.h"

using memtrace::history::life;
using memtrace::history::moment;
using memtrace::history::never;
using memtrace::history::timeline;

namespace {

constexpr std::uint32_t kinds = 3;

// A run of an allocator, and everything that ever lived in it.
struct made_up_run {
  std::vector<life> lives;
  std::map<std::uint64_t, std::uint64_t> totals;  // after each allocation, by event

  void feed(timeline& line, unsigned seed, std::uint64_t events) {
    std::mt19937 random(seed);
    const auto below = [&](std::uint64_t most) {
      return std::uniform_int_distribution<std::uint64_t>(0, most - 1)(random);
    };
    std::vector<life> alive;
    std::uint64_t total = 0;
    std::uint32_t backwards = 0;
    for (std::uint64_t event = 0; event < events; ++event) {
      if (below(50) == 0) ++backwards;
      const bool frees = !alive.empty() && below(100) < 47;
      if (!frees) {
        life block;
        block.born = event;
        block.bytes = 512 * (1 + below(64));
        block.kind = static_cast<std::uint32_t>(below(kinds - 1));
        if (below(4) == 0) block.until_backward = backwards + static_cast<std::uint32_t>(below(3));
        block.later_kind = kinds - 1;
        alive.push_back(block);
        total += block.bytes;
        totals[event] = total;
        moment now;
        now.event = event;
        now.time_ns = 10 * event;
        now.allocated = total;
        now.reserved = total + 512 * below(8);
        now.backwards_ended = backwards;
        line.grew(now);
        continue;
      }
      const auto which = static_cast<std::ptrdiff_t>(below(alive.size()));
      auto block = alive[static_cast<std::size_t>(which)];
      alive.erase(alive.begin() + which);
      total -= block.bytes;
      block.died = event;
      line.lived(block);
      lives.push_back(block);
    }
    for (const auto& block : alive) {
      line.lived(block);
      lives.push_back(block);
    }
    line.finish();
  }

  [[nodiscard]] std::uint64_t bytes_at(const moment& at, std::uint32_t kind) const {
    std::uint64_t sum = 0;
    for (const auto& block : lives) {
      if (block.born > at.event || block.died <= at.event) continue;
      const bool later = at.backwards_ended > block.until_backward;
      if ((later ? block.later_kind : block.kind) == kind) sum += block.bytes;
    }
    return sum;
  }
};

}  // namespace

TEST_CASE("GIVEN lives of any length WHEN moments are merged THEN each still says who held what") {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    const std::uint64_t events = 400u * seed;
    timeline line(16);
    made_up_run run;
    run.feed(line, seed, events);
    INFO("seed " << seed);
    const auto& moments = line.moments();
    REQUIRE(moments.size() >= 4);
    REQUIRE(moments.size() <= 16);
    for (std::size_t i = 0; i < moments.size(); ++i) {
      CHECK(moments[i].allocated == run.totals.at(moments[i].event));
      if (i > 0) CHECK(moments[i].event > moments[i - 1].event);
      std::uint64_t sum = 0;
      for (std::uint32_t kind = 0; kind < kinds; ++kind) {
        const auto bytes = line.bytes_of(kind)[i];
        CHECK(bytes == run.bytes_at(moments[i], kind));
        sum += bytes;
      }
      CHECK(sum == moments[i].allocated);
    }
    const auto highest =
        std::ranges::max_element(run.totals, {}, [](const auto& one) { return one.second; });
    CHECK(std::ranges::any_of(moments, [&](const moment& one) {
      return one.event == highest->first && one.allocated == highest->second;
    }));
  }
}

TEST_CASE("GIVEN a stretch WHEN its highest moment is kept THEN so is the most reserved in it") {
  timeline line(2);
  moment now;
  now.event = 2;
  now.allocated = 100;
  now.reserved = 900;
  line.grew(now);
  now.event = 3;
  now.allocated = 200;
  now.reserved = 300;
  line.grew(now);
  line.finish();
  REQUIRE(line.moments().size() == 1);
  CHECK(line.moments()[0].event == 3);
  CHECK(line.moments()[0].reserved == 300);
  CHECK(line.moments()[0].most_reserved == 900);
}

TEST_CASE("GIVEN a short run WHEN it is over THEN each of its allocations is a moment") {
  timeline line(2000);
  made_up_run run;
  run.feed(line, 1, 1500);
  REQUIRE(run.totals.size() > 500);
  REQUIRE(line.moments().size() == run.totals.size());
  for (const auto& one : line.moments()) CHECK(one.allocated == run.totals.at(one.event));
}

TEST_CASE("GIVEN nothing WHEN the run is over THEN there are no moments") {
  timeline line;
  line.lived({0, never, 512, 0});
  line.finish();
  CHECK(line.moments().empty());
  CHECK(line.bytes_of(0).empty());
  CHECK(line.bytes_of(7).empty());
}
