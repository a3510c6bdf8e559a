// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdicts/shown_bound.h"

#include <string>
#include <vector>

#include "tests/unit/catch.h"

using memtrace::verdicts::bound_in;

namespace {

// 0: the line bounds nothing.
[[nodiscard]] std::uint64_t limit(const char* line, const char* variable = "memory.items",
                                  std::uint64_t length = 30) {
  const auto found =
      bound_in({"import torch", line}, {variable, length, length, "limit=50,budget=320,at=36"});
  if (found) CHECK(found->line == 2);
  return found ? found->limit : 0;
}

}  // namespace

TEST_CASE("GIVEN a line that compares a length with a limit THEN that is the bound") {
  CHECK(limit("if len(self.items) < self.limit:") == 50);
  CHECK(limit("while self.limit > len(self.items):") == 50);
  CHECK(limit("if len(items) >= 1_000: items.pop(0)") == 1000);
  CHECK(limit("while len(pool.pictures) < budget and rounds < 9:", "pool.pictures") == 320);
  CHECK(limit("if pool.x.shape[0] > budget:", "pool.x", 0) == 320);
  CHECK(limit("while queue.qsize() < limit:", "queue") == 50);
}

TEST_CASE("GIVEN a ring, a window or places made beforehand THEN their size is the bound") {
  CHECK(limit("self.items[self.at % self.limit] = item") == 50);
  CHECK(limit("features = features[-limit:]", "features") == 50);
  CHECK(limit("self.items = self.items[-self.limit:]") == 50);
  CHECK(limit("self.items = [None] * self.limit") == 50);
}

TEST_CASE("GIVEN a line that only mentions the container THEN it bounds nothing") {
  CHECK(limit("if len(self.items) % self.limit == 0: print('many')") == 0);
  CHECK(limit("self.items.append(item)  # at most len(self.items) < limit") == 0);
  CHECK(limit("if len(self.other_items) < self.limit:") == 0);
  CHECK(limit("if len(self.items) < self.count():") == 0);
  CHECK(limit("if len(self.items) < unknown:") == 0);
  CHECK(limit("if len(self.items) >= 2:") == 0);  // it holds more
  CHECK(limit("if len(self.items) < self.limit:", "memory.items", 60) == 0);
  CHECK(limit("if len(self.items) < self.limit:", "memory.items", 50) == 0);  // and grows still
  CHECK(limit("loss = model(memory.items[-limit:])") == 0);
  CHECK(limit("row = self.items[step % self.limit]") == 0);
  CHECK(limit("past = [None] * 3", "past", 6) == 0);
  CHECK(limit(("if len(self.items) < self.limit: " + std::string(1'000'000, 'x')).c_str()) == 0);
  CHECK(limit("if len(self.items) < self.limit:", "strange name") == 0);
}

TEST_CASE("GIVEN a ring that is full THEN it is bounded still") {
  CHECK(limit("self.items[step % 14] = item", "memory.items", 14) == 14);
  CHECK(limit("self.items[step % 14] = item", "memory.items", 15) == 0);
  CHECK(limit("self.items[step % len(self.items)] = item", "memory.items", 14) == 14);
  CHECK(limit("row = self.items[step % len(self.items)]", "memory.items", 14) == 0);
  CHECK(limit("self.items[step % len(self.others)] = item", "memory.items", 14) == 0);
  CHECK(limit("self.items = [None] * 14", "memory.items", 14) == 14);
  CHECK(limit("self.items = dict.fromkeys(range(14))", "memory.items", 14) == 14);
  CHECK(limit("self.items = [None for _ in range(self.limit)]", "memory.items", 50) == 50);
}

namespace {

[[nodiscard]] std::uint64_t limit_in(const std::vector<std::string>& lines) {
  const auto found = bound_in(lines, {"items", 9, 9, "limit=50"});
  return found ? found->limit : 0;
}

}  // namespace

TEST_CASE("GIVEN places by a variable THEN what it is the remainder of bounds them") {
  CHECK(limit_in({"slot = step % 14", "items[slot] = row"}) == 14);
  CHECK(limit_in({"slot = (step + 1) % limit", "items[slot] = row"}) == 50);
  CHECK(limit_in({"turn, slot = divmod(step, 14)", "items[slot] = row"}) == 14);
  CHECK(limit_in({"for step in range(limit):", "    items[step] = row"}) == 0);
  CHECK(limit_in({"other = step % 14", "items[step] = row"}) == 0);
  CHECK(limit_in({"slot = step % 14 + offset", "items[slot] = row"}) == 0);
}

TEST_CASE("GIVEN a limit that only the file names THEN its one value counts") {
  CHECK(limit_in({"PLACES = 14", "items[step % PLACES] = row"}) == 14);
  CHECK(limit_in({"def __init__(self, count=14):", "self.items[step % self.count] = row"}) == 14);
  CHECK(limit_in({"PLACES = 14", "PLACES = 15", "items[step % PLACES] = row"}) == 0);
  CHECK(limit_in({"PLACES = find()", "items[step % PLACES] = row"}) == 0);
}
