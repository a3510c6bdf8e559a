// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/agent/root_watch.h"

#include <vector>

#include "tests/unit/catch.h"

using memtrace::agent::root_watch;

namespace {

constexpr std::uint64_t root = 0x1000;
constexpr std::uint32_t generation = 1;

// At which of so many times the root is due, if it is found whenever it is.
std::vector<unsigned> due_times(root_watch& watch, unsigned times) {
  std::vector<unsigned> due;
  for (unsigned time = 1; time <= times; ++time) {
    if (!watch.see(root, generation)) continue;
    due.push_back(time);
    watch.looked(root, true, 0);
  }
  return due;
}

}  // namespace

TEST_CASE("a root is looked at the 1st, 2nd, 4th, 8th time") {
  root_watch watch;
  CHECK(due_times(watch, 20) == std::vector<unsigned>{1, 2, 4, 8, 16});
  CHECK(watch.is_idle());
}

TEST_CASE("a root stays wanted until it was looked at") {
  root_watch watch;
  CHECK(watch.see(root, generation));
  CHECK(watch.see(root, generation));
  REQUIRE(watch.wanted().size() == 1);
  CHECK(watch.wanted()[0].address == root);
  watch.looked(root, true, 0);
  CHECK(watch.wanted().empty());
}

TEST_CASE("a root that was not found is due again, after longer and longer pauses") {
  root_watch watch;
  std::vector<unsigned> due;
  for (unsigned time = 1; time <= 20; ++time) {
    if (!watch.see(root, generation)) continue;
    CHECK(watch.wanted()[0].misses == due.size());
    due.push_back(time);
    watch.looked(root, false, 0);
  }
  CHECK(due == std::vector<unsigned>{1, 3, 7, 15});
}

TEST_CASE("moved parameters make every root due once") {
  root_watch watch;
  CHECK(due_times(watch, 5) == std::vector<unsigned>{1, 2, 4});
  watch.parameters_moved();
  CHECK(due_times(watch, 2) == std::vector<unsigned>{1});
}

TEST_CASE("after a long look at moved parameters the next one waits") {
  root_watch watch;
  CHECK(due_times(watch, 3) == std::vector<unsigned>{1, 2});
  watch.parameters_moved();
  CHECK(watch.see(root, generation));
  watch.looked(root, true, 3'600'000'000'000);
  watch.parameters_moved();
  CHECK_FALSE(watch.see(root, generation));
}

TEST_CASE("a forgotten root and another recording begin anew") {
  root_watch watch;
  CHECK(due_times(watch, 3) == std::vector<unsigned>{1, 2});
  watch.forget(root);
  CHECK(due_times(watch, 3) == std::vector<unsigned>{1, 2});
  CHECK(watch.see(root, generation + 1));
}
