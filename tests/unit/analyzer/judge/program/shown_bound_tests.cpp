// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/shown_bound.h"

#include <string>
#include <vector>

#include "tests/unit/catch.h"

using memtrace::verdicts::bound_in;
using memtrace::verdicts::program_text;

namespace {

// 0: the line bounds nothing.
[[nodiscard]] std::uint64_t limit(const char* line, const char* variable = "memory.items",
                                  std::uint64_t length = 30) {
  const auto found = bound_in(program_text({"import torch", line}),
                              {variable, length, length, "limit=50,budget=320,at=36"});
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
  CHECK(limit("self.items = torch.cat([self.items, x], 1)[:, -self.limit:]") == 50);
  CHECK(limit("self.items = torch.cat([self.items, x])[:, -self.limit:]") == 0);  // its columns
  CHECK(limit("keys = torch.cat([keys, x], 2)[:, :, -limit:, :]", "keys") == 50);
  CHECK(limit("keys = torch.cat([keys, x], -2)[..., -limit:, :]", "keys") == 50);
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
  const auto found = bound_in(program_text(lines), {"items", 9, 9, "limit=50"});
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

TEST_CASE("GIVEN a comparison THEN what is done where it holds says whether it bounds") {
  // The oldest makes way, or nothing more comes.
  CHECK(limit_in({"items.append(row)", "if len(items) > 20:", "    items.pop(0)"}) == 20);
  CHECK(limit_in({"if len(items) >= 20:", "    return", "items.append(row)"}) == 20);
  CHECK(limit_in({"if len(items) < 20:", "    items.append(row)", "else:", "    pass"}) == 20);
  CHECK(limit_in({"def full():", "    return len(items) == 20", "if full():", "    learn(items)",
                  "def learn(items):", "    items.clear()"}) == 20);
  // There are enough of them, or not yet; or somebody is told.
  CHECK(limit_in({"items.append(row)", "if len(items) >= 20:", "    mean = stack(items[-20:])"}) ==
        0);
  CHECK(limit_in({"items.append(row)", "if len(items) < 20:", "    continue"}) == 0);
  CHECK(limit_in({"items.append(row)", "if len(items) > 20:", "    print('many')"}) == 0);
  CHECK(limit_in({"def ready():", "    return len(items) >= 20",
                  "if ready():", "    batch = items[0]"}) == 0);
}

TEST_CASE("GIVEN a container that is full and makes room THEN it is bounded still") {
  CHECK(limit_in({"items.append(row)", "if len(items) > 8:", "    items.pop(0)"}) == 9);
  CHECK(limit_in({"items.append(row)", "if len(items) > 7:", "    items.pop(0)"}) == 0);
}

TEST_CASE("GIVEN the smallest of several THEN one that is known is enough") {
  CHECK(limit_in({"while len(items) < min(1 + step // 5, 12):", "    items.append(row)"}) == 12);
  CHECK(limit_in({"depth = min(depth + 1, 12)", "if len(items) > depth:", "    items.pop(0)"}) ==
        12);
  CHECK(limit_in({"KINDS = ['a', 'b', 'c', 'd', 'e',", "         'f', 'g', 'h', 'i', 'j']",
                  "if len(items) > len(KINDS):", "    items.pop(0)"}) == 10);
}

TEST_CASE("GIVEN a container that is cut THEN what is left is the bound") {
  CHECK(limit_in({"del items[:-30]"}) == 30);
  CHECK(limit_in({"items = sorted(items, key=by_loss)[:30]"}) == 30);
  CHECK(limit_in({"items = (row, *items)[:30]"}) == 30);
  CHECK(limit_in({"last = items[:30]"}) == 0);
  CHECK(limit_in({"self.items, self.count = [None] * 12, 0"}) == 12);
}

namespace {

[[nodiscard]] bool counted(const std::vector<std::string>& lines, std::uint64_t steps = 14) {
  return bound_in(program_text(lines), {"store.items", 14, 14, "budget=320", steps}).has_value();
}

}  // namespace

TEST_CASE("GIVEN a program that counts something else THEN what it adds or drops by that bounds") {
  CHECK(counted({"used += row.nbytes", "while used > self.budget:", "    items.popitem()"}));
  CHECK(counted({"for step in range(steps):", "    if step < 30:", "        items.append(row)"}));
  CHECK(counted({"while money >= price:", "    money -= price", "    items.append(row)"}));
  CHECK(!counted({"for step in range(steps):", "    if step > 20:", "        items.append(row)"}));
  CHECK(!counted({"for step in range(steps):", "    if step < 10:", "        items.append(row)"}));
  CHECK(!counted({"if loss < 30:", "    items.append(row)"}));
  CHECK(!counted({"used += row.nbytes", "while used > self.budget:", "    print(used)"}));
}

namespace {

[[nodiscard]] std::uint64_t keys(const std::vector<std::string>& lines) {
  const auto found = bound_in(program_text(lines), {"items", 9, 9, "", 14});
  return found && found->kind == memtrace::verdicts::bound_kind::keys ? found->limit : 0;
}

}  // namespace

TEST_CASE("GIVEN keys of which there are so many THEN they bound a dictionary") {
  const std::string put = "items[key] = row";
  CHECK(keys({"NAMES = ('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j')",
              "key = NAMES[turn // 3 % len(NAMES)]", put}) == 10);
  CHECK(keys({"key = random.randrange(12)", put}) == 13);
  CHECK(keys({"key = random.choice(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'])", put}) == 9);
  CHECK(keys({"for epoch in range(3):", "    for key in range(20):", "        items[key] = row"}) ==
        20);
  CHECK(keys({"self.key = (self.key + 1) % 12", "items[self.key] = row"}) == 12);
  CHECK(keys({"key = step % 12", put, "self.rows, self.key = rows, key"}) == 12);
  CHECK(keys({"@functools.cache", "def items(shift):", "    return eye", "x = items(step % 18)"}) ==
        18);
  CHECK(keys({"key = random.randrange(100000)", put}) == 0);  // hardly any comes again
  CHECK(keys({"key = step", put}) == 0);
  CHECK(keys({"key = step % 12", "key = step", put}) == 0);
  CHECK(keys({"kind = step % 12", "items[kind, step // 12] = row"}) == 0);
  CHECK(keys({"for key in range(20):", "    items[key] = row"}) == 0);  // may be the steps
  // so many lists, each of any length
  CHECK(keys({"key = step % 12", "items.setdefault(key, []).append(row)"}) == 0);
  CHECK(keys({"key = step % 12", "items[key] = []", "items[key].append(row)"}) == 0);
  CHECK(keys({"key = step % 12", "items.setdefault(key, row)"}) == 12);
}

TEST_CASE("GIVEN what elements keep by an attribute THEN keys bound it if elements are added") {
  const std::vector<std::string> lines = {"number = step % 16", "clients[number] = Client()"};
  CHECK(!bound_in(program_text(lines), {"clients[…].control", 10, 40, "", 24, false}));
  CHECK(bound_in(program_text(lines), {"clients[…].control", 10, 40, "", 24, true}));
}

TEST_CASE("GIVEN a key that a function is handed THEN what its callers give is looked at") {
  const auto keys = [](const char* call) {
    const auto found = bound_in(
        program_text({"def batch(self, number):", "    self.items[number] = load(number)",
                      "def check(self):", call, "    self.next = (self.next + 1) % self.batches"}),
        {"check.items", 8, 8, "batches=29"});
    return found ? found->limit : 0;
  };
  CHECK(keys("    x = self.batch(self.next)") == 29);
  CHECK(keys("    x = self.batch(step)") == 0);
  CHECK(keys("    x = self.batch()") == 0);
}

TEST_CASE("GIVEN a part that is made with others and kept THEN it is cut") {
  CHECK(limit("memory.items = memory.items[-limit:].detach()") == 50);
  const auto cut = [](const char* kept) {
    const auto found = bound_in(
        program_text({"def step(self, x):", "    x = torch.cat([self.items, x], -1)", kept}),
        {"memory.items", 0, 1, "limit=50"});
    return found ? found->limit : 0;
  };
  CHECK(cut("    self.items = x[..., -self.limit:].clone()") == 50);
  CHECK(cut("    self.items = x[..., max(0, x.shape[-1] - self.limit):].clone()") == 50);
  CHECK(cut("    self.items = x") == 0);
  CHECK(cut("    self.other = x[..., -self.limit:]") == 0);
}

TEST_CASE("GIVEN keys of a number that nobody knows THEN they bound it, and nobody knows where") {
  const auto found =
      bound_in(program_text({"task = min(step // 6, args.tasks - 1)", "items[task] = x"}),
               {"items", 5, 5, ""});
  REQUIRE(found);
  CHECK(found->limit == 0);
  CHECK(!bound_in(program_text({"items[step] = x"}), {"items", 5, 5, ""}));
}

TEST_CASE("GIVEN a local variable of the attribute's name THEN its cut leaves the attribute") {
  CHECK(limit("items = self.items[-limit:]") == 0);
  CHECK(limit("items = memory.items[-limit:]") == 0);
  CHECK(limit("items = (items + [x])[-limit:]", "items") == 50);
  CHECK(limit("items = items[-limit:]", "items") == 50);
  CHECK(limit("self.items = sorted(self.items)[-limit:]") == 50);
}

TEST_CASE("GIVEN an addition in either branch THEN a count bounds nothing") {
  const auto bounded = [](const char* otherwise) {
    return bound_in(program_text({"for step in range(steps):", "    if step < limit:",
                                  "        items.append(x)", "    else:", otherwise}),
                    {"items", 10, 10, "limit=50", 10})
        .has_value();
  };
  CHECK(!bounded("        items.append(y)"));
  CHECK(bounded("        items[place] = y"));
  CHECK(bounded("        skip(y)"));
}
