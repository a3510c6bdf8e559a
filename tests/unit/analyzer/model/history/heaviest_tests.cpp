// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/history/heaviest.h"

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

#include "analyzer/model/history/recorded.h"
#include "tests/unit/catch.h"

using memtrace::history::even_marks;
using memtrace::history::heaviest;
using memtrace::history::mark;

TEST_CASE("GIVEN many weights WHEN the heaviest are kept THEN they are those that sorting finds") {
  std::mt19937 random(7);
  for (const std::size_t most : {0u, 1u, 2u, 10u, 1000u}) {
    CAPTURE(most);
    heaviest<int> kept(most);
    std::vector<int> all;
    std::vector<int> gone;
    for (int i = 0; i < 500; ++i) {
      const int weight = static_cast<int>(random() % 100'000);
      all.push_back(weight);
      if (!kept.takes(weight)) {
        gone.push_back(weight);
      } else if (const auto lighter = kept.add(weight, weight)) {
        gone.push_back(*lighter);
      }
    }
    std::ranges::sort(all, std::greater<>{});
    const auto last = std::min(most, all.size());
    const std::vector<int> expected(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(last));
    auto found = kept.take();
    CHECK(gone.size() + found.size() == all.size());
    std::ranges::sort(found, std::greater<>{});
    CHECK(found == expected);
  }
}

TEST_CASE("GIVEN marks without end WHEN some are kept THEN evenly, the first and the last too") {
  for (const std::uint64_t seen : {0u, 1u, 9u, 10u, 11u, 640u, 641u, 12'345u}) {
    CAPTURE(seen);
    even_marks marks(10);
    for (std::uint64_t event = 0; event < seen; ++event) {
      marks.add({.what = mark::kind::retry, .event = event, .text = {}});
    }
    CHECK(marks.seen() == seen);
    const auto kept = marks.take();
    CHECK(kept.size() <= 10);
    CHECK(kept.size() >= std::min<std::uint64_t>(seen, 5));
    if (seen == 0) continue;
    CHECK(kept.front().event == 0);
    CHECK(kept.back().event == seen - 1);
    std::uint64_t widest = 0;
    for (std::size_t i = 1; i < kept.size(); ++i) {
      REQUIRE(kept[i - 1].event < kept[i].event);
      widest = std::max(widest, kept[i].event - kept[i - 1].event);
    }
    CHECK(widest <= seen / 4 + 1);
  }
}
