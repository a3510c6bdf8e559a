// SPDX-License-Identifier: Apache-2.0
//
// The peak and what was live at it, against a recomputation from the whole list of events.
#include <map>
#include <random>
#include <vector>

#include "analyzer/model/replay/address_map.h"
#include "analyzer/model/replay/site_table.h"
#include "tests/unit/analyzer/model/replay/replayed.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::test;

namespace {

constexpr std::uint64_t a = 0x7f0000000000;

using holdings = std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>>;

[[nodiscard]] holdings by_site(const std::vector<replay::site_holding>& list) {
  holdings found;
  for (const auto& [site, held] : list) found[site.number] = {held.bytes, held.blocks};
  return found;
}

struct change {
  bool alloc;
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint32_t site;
};

// Random allocations and frees of live blocks; sizes make ties and repeated peaks likely.
[[nodiscard]] std::vector<change> random_changes(std::uint32_t seed, int count) {
  std::mt19937 random(seed);
  std::vector<change> changes;
  std::vector<change> live;
  for (int i = 0; i < count; ++i) {
    if (!live.empty() && random() % 100 < 48) {
      const auto at = random() % live.size();
      changes.push_back({false, live[at].address, live[at].bytes, live[at].site});
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
    } else {
      live.push_back({true, a + static_cast<std::uint64_t>(i) * 4096, (random() % 4 + 1) * 512,
                      static_cast<std::uint32_t>(random() % 7 + 1)});
      changes.push_back(live.back());
    }
  }
  return changes;
}

// The definition, without cleverness: the state after the event at which the sum was first highest.
struct recomputed {
  std::uint64_t peak = 0;
  std::size_t event = 0;
  holdings held;
};
[[nodiscard]] recomputed recompute(const std::vector<change>& changes) {
  std::vector<std::uint64_t> sums;
  std::uint64_t sum = 0;
  for (const auto& one : changes) {
    sum += one.alloc ? one.bytes : ~one.bytes + 1;
    sums.push_back(sum);
  }
  recomputed found;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i] > found.peak) {
      found.peak = sums[i];
      found.event = i;
    }
  }
  for (std::size_t i = 0; i <= found.event; ++i) {
    auto& [bytes, blocks] = found.held[changes[i].site];
    bytes += changes[i].alloc ? changes[i].bytes : ~changes[i].bytes + 1;
    blocks += changes[i].alloc ? 1 : ~std::uint64_t{0};
  }
  std::erase_if(found.held, [](const auto& entry) { return entry.second.second == 0; });
  return found;
}

}  // namespace

TEST_CASE("GIVEN random events WHEN replayed THEN the peak by site is that of a recomputation") {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    const auto changes = random_changes(seed, 300);
    const auto expected = recompute(changes);
    trace_builder trace;
    for (std::uint64_t line = 1; line <= 7; ++line) {
      (void)trace.stack({{"train.py", line, "main"}});
    }
    trace.segment(a, 64_MiB).end_block();
    std::vector<std::uint64_t> numbers;  // of the events, frees being two
    for (const auto& one : changes) {
      numbers.push_back(trace.events());
      if (one.alloc) {
        trace.alloc(one.address, one.bytes, one.site);
      } else {
        trace.free(one.address);
      }
      if (trace.events() % 50 == 0) trace.end_block();
    }
    const replayed done(trace);
    CAPTURE(seed);
    REQUIRE(done.facts.events == trace.events());
    REQUIRE(done.allocator().mismatches() == 0);
    REQUIRE(done.allocator().peak_allocated().totals.allocated == expected.peak);
    REQUIRE(done.allocator().peak_allocated().event == numbers[expected.event]);
    REQUIRE(by_site(done.allocator().sites().at_peak()) == expected.held);
  }
}

TEST_CASE("GIVEN memory freed after the peak WHEN replayed THEN it still counts at the peak") {
  trace_builder trace;
  const auto weights = trace.stack({{"train.py", 1, "main"}});
  const auto activations = trace.stack({{"train.py", 2, "main"}});
  trace.segment(a, 20_MiB).alloc(a, 4_MiB, weights).alloc(a + 4_MiB, 8_MiB, activations);
  trace.free(a + 4_MiB).alloc(a + 4_MiB, 2_MiB, activations);
  const replayed done(trace);
  CHECK(done.allocator().peak_allocated().totals.allocated == 12_MiB);
  CHECK(by_site(done.allocator().sites().at_peak()) == holdings{{1, {4_MiB, 1}}, {2, {8_MiB, 1}}});
  CHECK(by_site(done.allocator().sites().now()) == holdings{{1, {4_MiB, 1}}, {2, {2_MiB, 1}}});
}

TEST_CASE("GIVEN threads without Python WHEN they allocate THEN each thread is a site") {
  trace_builder trace;
  const auto one = trace.thread(1, "pt_autograd_0");
  const auto two = trace.thread(2, "pt_autograd_1");
  trace.context(0, one).alloc(a, 1_MiB).context(0, two).alloc(a + 1_MiB, 2_MiB);
  const replayed done(trace);
  const auto sites = done.allocator().sites().at_peak();
  REQUIRE(sites.size() == 2);
  CHECK(sites[0].site == replay::site_id{static_cast<std::uint32_t>(one), true});
  CHECK(sites[1].held.bytes == 2_MiB);
}

TEST_CASE("GIVEN random inserts and erases WHEN looked up THEN the map agrees with std::map") {
  std::mt19937 random(7);
  replay::address_map<std::uint64_t> map;
  std::map<std::uint64_t, std::uint64_t> expected;
  for (int i = 0; i < 200'000; ++i) {
    const auto address = random() % 4096 * 512;  // 0 included, crowded
    if (random() % 2 == 0) {
      map.insert(address) = static_cast<std::uint64_t>(i);
      expected[address] = static_cast<std::uint64_t>(i);
    } else {
      REQUIRE(map.erase(address) == (expected.erase(address) == 1));
    }
  }
  REQUIRE(map.size() == expected.size());
  for (std::uint64_t address = 0; address < 4096 * 512; address += 512) {
    const auto known = expected.find(address);
    const auto* const found = map.find(address);
    REQUIRE((found != nullptr) == (known != expected.end()));
    if (found != nullptr) REQUIRE(*found == known->second);
  }
}
