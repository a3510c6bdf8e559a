// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/inconclusive.h"

#include "analyzer/judge/program/signs_of_end.h"
#include "tests/unit/catch.h"

using memtrace::verdicts::gathered;
using memtrace::verdicts::may_end;
using memtrace::verdicts::open_kind;
using memtrace::verdicts::program_text;

namespace {

[[nodiscard]] std::optional<open_kind> question(const std::vector<std::string>& lines,
                                                bool keys_come_again = true,
                                                std::uint64_t length = 8,
                                                const char* variable = "model.made") {
  const auto found =
      may_end(program_text(lines), {variable, length, "most=50", true, keys_come_again});
  return found ? std::optional(found->kind) : std::nullopt;
}

[[nodiscard]] std::optional<open_kind> question_of(const std::vector<std::string>& lines,
                                                   const gathered& what) {
  const auto found = may_end(program_text(lines), what);
  return found ? std::optional(found->kind) : std::nullopt;
}

}  // namespace

TEST_CASE("GIVEN entries for new keys alone WHEN keys have come again THEN it may end") {
  const std::vector<std::string> guarded = {
      "def mask(self, size):", "    if size not in self.made:",
      "        self.made[size] = table(size)", "    return self.made[size]"};
  CHECK(question(guarded) == open_kind::new_keys);
  CHECK(!question(guarded, false));
  CHECK(!question({"def note(self, step, loss):", "    self.made[step] = loss"}));
  CHECK(question({"row = made.get(user)", "if row is None:", "    made[user] = look(user)"}) ==
        open_kind::new_keys);
  // One of the lines adds whatever is there.
  CHECK(!question({"def a(self, size):", "    if size not in self.made:",
                   "        self.made[size] = table(size)",
                   "def b(self, x):", "    self.made[id(x)] = x"}));
}

TEST_CASE("GIVEN a line that takes something out under a condition THEN it may end") {
  CHECK(question({"made.append(x)", "if is_old(made[0]):", "    made.pop(0)"}) ==
        open_kind::taken_out);
  CHECK(question({"made.append(x)", "if done(x):", "    made.clear()"}) == open_kind::taken_out);
  // It is longer than that already.
  CHECK(!question({"made.append(x)", "if not leaking and len(made) > 2:", "    del made[0]"}));
  // It has run, and memory has grown all the same.
  CHECK(!question({"made.append(x)", "made.remove(other)"}));
  CHECK(!question({"def __init__(self):", "    if fresh:", "        self.made = []",
                   "def add(self, x):", "    self.made.append(x)"}));
}

TEST_CASE("GIVEN a length that is compared with what nobody knows THEN it may end") {
  CHECK(question({"made.append(x)", "while len(made) > room():", "    drop(made)",
                  "def drop(made):", "    made.pop(0)"}) == open_kind::taken_out);
  CHECK(question({"if len(made) < room():", "    made.append(x)"}) == open_kind::measured);
  CHECK(question({"def open(self):", "    count = len(self.made)", "    if count < len(self.all):",
                  "        self.made.append(x)"}) == open_kind::measured);
  CHECK(!question({"made.append(x)", "if len(made) > most:", "    made = made[-most:]"}, true, 80));
  CHECK(!question({"made.append(x)", "if len(made) > room():", "    print('many')"}));
}

TEST_CASE("GIVEN what an element keeps WHEN there are no more elements THEN nothing is said") {
  const std::vector<std::string> lines = {"nodes.append(Node(x))",
                                          "if done(x):", "    nodes.clear()"};
  const auto of = [&](bool gets_longer) {
    return may_end(program_text(lines), {"tree.nodes[…].states", 8, "", gets_longer, true});
  };
  CHECK(of(true));
  CHECK(!of(false));
}

TEST_CASE("GIVEN what is put in while there is another one THEN it may end") {
  CHECK(question({"def run():", "    chunk = next(unread, None)", "    if chunk is not None:",
                  "        made.append(chunk)"}) == open_kind::runs_out);
  CHECK(question({"def ask(self):", "    if len(self.waiting) == 0:", "        return",
                  "    self.made.append(self.waiting.pop())"}) == open_kind::runs_out);
  CHECK(question({"def add(self, x):", "    self.made.append(x)",
                  "def run(self):", "    chunk = next(self.unread, None)",
                  "    if chunk is not None:", "        self.add(chunk)"}) == open_kind::runs_out);
  CHECK(!question({"def run():", "    chunk = next(unread)", "    made.append(chunk)"}));
  // Not all of it comes from there.
  CHECK(!question({"def run():", "    chunk = next(unread, None)", "    if chunk is not None:",
                   "        made.append(chunk)", "    made.append(loss)"}));
}

TEST_CASE("GIVEN entries for new keys WHEN something else has the keys, too THEN it may end") {
  const std::vector<std::string> guarded = {
      "def adapter(self, tenant):", "    if tenant not in self.made:",
      "        self.made[tenant] = load(tenant)", "    return self.made[tenant]"};
  gathered what{"server.made", 8, "", true};
  CHECK(!question_of(guarded, what));
  for (const char keys : {'i', 'k'}) {
    what.keys = keys;
    CHECK(question_of(guarded, what) == open_kind::new_keys);
  }
  what.keys = 'n';
  CHECK(!question_of(guarded, what));
  // The number of a step is never there.
  what.keys = 'i';
  CHECK(!question_of(
      {"for step in range(40):", "    if step not in made:", "        made[step] = x"}, what));
}

TEST_CASE(
    "GIVEN elements that get longer WHEN a line measures what they are in THEN it says nothing") {
  const std::vector<std::string> lines = {
      "if len(self.made) >= self.room:", "    self.made[largest].pop(0)",
      "self.made[label].append(x)"};
  gathered what{"replay.made", 80, "", true};
  what.in_elements = what.has_elements = true;
  CHECK(!question_of(lines, what));
  CHECK(question_of({"if len(self.made[label]) >= self.room:", "    self.made[label].pop(0)",
                     "self.made[label].append(x)"},
                    what) == open_kind::taken_out);
}

TEST_CASE("GIVEN a removal WHEN its switch was off THEN nothing is taken out") {
  const std::vector<std::string> lines = {"def __init__(self, reset_made=False):",
                                          "    self.reset_made = reset_made",
                                          "def reset(self):",
                                          "    if self.reset_made:",
                                          "        self.made.clear()",
                                          "def add(self, x): self.made.append(x)"};
  CHECK(!question_of(lines, {"meter.made", 8, "reset_made=False", true}));
  CHECK(question_of(lines, {"meter.made", 8, "", true}) == open_kind::taken_out);
  // It may become true.
  auto more = lines;
  more.insert(more.end(), {"def fill(self):", "    self.reset_made = len(self.made) == 50"});
  CHECK(question_of(more, {"meter.made", 8, "reset_made=False", true}) == open_kind::taken_out);
}

TEST_CASE(
    "GIVEN what comes out of something else WHEN that gets nothing any more THEN it may end") {
  const std::vector<std::string> pool = {
      "def __init__(self, count):", "    self.left = list(range(count))", "    self.made = []",
      "def label(self):", "    self.made.append(self.left.pop(0).cuda())"};
  CHECK(question(pool) == open_kind::runs_out);
  auto refilled = pool;
  refilled.emplace_back("def add(self, x): self.left.append(x)");
  CHECK(!question(refilled));
}

TEST_CASE("GIVEN lines that sift it or take out of it where they are called for THEN it may end") {
  CHECK(question({"made.append(x)", "made = [x for x in made if x.age < limit]"}) ==
        open_kind::taken_out);
  CHECK(question({"def forget(self):", "    self.made.pop(0)",
                  "def add(self, x):", "    self.made.append(x)",
                  "    if self.is_full():", "        self.forget()"}) == open_kind::taken_out);
  CHECK(question({"def remember(self, x):", "    if len(self.made) == self.room:",
                  "        for kept in (self.made, self.other):", "            kept.pop(0)",
                  "    self.made.append(x)"}) == open_kind::taken_out);
}

TEST_CASE("GIVEN rows that are cut off under a condition THEN it may end") {
  const std::vector<std::string> by_extra = {
      "def add(self, rows):", "    self.kept = torch.cat([self.kept, rows])",
      "    extra = self.count() - self.most",
      "    if extra > 0:", "        self.kept = self.kept[extra:]"};
  const gathered kept{"buffer.kept", 0, "", true, false};
  CHECK(question_of(by_extra, kept) == open_kind::taken_out);
  auto of_parts = by_extra;
  of_parts.back() = "        self.kept = {name: part[extra:] for name, part in self.kept.items()}";
  CHECK(question_of(of_parts, kept) == open_kind::taken_out);
  auto elsewhere = by_extra;
  elsewhere.back() = "        kept = self.kept[extra:]";  // a variable of its own
  CHECK(!question_of(elsewhere, kept));
  auto along_a_text = by_extra;
  along_a_text[1] = "    self.kept = torch.cat([self.kept, rows], 2)";
  along_a_text.back() = "        self.kept = self.kept[:, :, extra:]";
  CHECK(question_of(along_a_text, kept) == open_kind::taken_out);
  along_a_text.back() = "        self.kept = self.kept[..., extra:, :]";
  CHECK(question_of(along_a_text, kept) == open_kind::taken_out);
  along_a_text.back() = "        self.kept = self.kept[:, :, None]";
  CHECK(!question_of(along_a_text, kept));
}

TEST_CASE("GIVEN a number that is called a capacity WHEN it is not reached THEN it may end") {
  const std::vector<std::string> lines = {"def add(self, rows):",
                                          "    self.kept = join(self.kept, rows, self.capacity)"};
  gathered kept{"buffer.kept", 0, "step=6,capacity=480", true, false};
  kept.steps = 44;
  CHECK(question_of(lines, kept) == open_kind::named);
  kept.steps = 500;  // one in each step at least
  CHECK(!question_of(lines, kept));
  kept.length = 300;
  CHECK(question_of(lines, kept) == open_kind::named);
  kept.blocks = 600;
  CHECK(!question_of(lines, kept));
  kept.blocks = 0;
  kept.numbers = "(_capacity=480";  // an attribute may have any text for a name
  CHECK(!question_of(lines, kept));
  kept.numbers = "step=6,width=480";
  CHECK(!question_of(lines, kept));
  // Of something else, as far as the lines say.
  kept.numbers = "capacity=480";
  CHECK(!question_of({"def add(self, rows):", "    self.kept.append(rows)",
                      "def other(self):", "    return self.capacity"},
                     kept));
}

TEST_CASE("GIVEN names THEN those of capacities are told from those of lengths") {
  for (const auto* name :
       {"capacity", "MAX_SIZE", "replay_limit", "buffer_size", "maxlen", "mem_cap"})
    CHECK(memtrace::verdicts::names_a_capacity(name));
  for (const auto* name : {"max_length", "size", "steps", "batch_size", "hidden_size", "max_steps",
                           "caption", "limits_of"})
    CHECK_FALSE(memtrace::verdicts::names_a_capacity(name));
}

TEST_CASE("GIVEN a tensor that is cut each time, or whose length is compared THEN it may end") {
  const gathered keys{"cache.keys", 0, "window=48", true, false};
  const std::vector<std::string> both_ends = {
      "def step(self, new):", "    self.keys = torch.cat([self.keys, new], 2)",
      "    self.keys = torch.cat([self.keys[:, :, :4], self.keys[:, :, -self.window:]], 2)"};
  CHECK(question_of(both_ends, keys) == open_kind::taken_out);
  const std::vector<std::string> compared = {
      "def step(self, new):", "    self.keys = torch.cat([self.keys, new], 2)",
      "    length = self.keys.shape[2]", "    if length > self.first + self.window:",
      "        self.keys = torch.cat([first, last], 2)"};
  CHECK(question_of(compared, keys));
  CHECK(question_of({"def step(self, new):", "    self.keys = torch.cat([self.keys, new], 2)",
                     "    if over > 0:", "        self.keys, self.values = self.keys[:, kept], v"},
                    keys) == open_kind::taken_out);
  CHECK(question_of({"def crop(self, states):", "    if states.shape[2] <= self.window:",
                     "        return states", "    return states[:, :, -self.window:]",
                     "def step(self, new):", "    joined = torch.cat([self.keys, new], 2)",
                     "    self.keys, self.other = self.crop(joined), 1"},
                    keys) == open_kind::taken_out);
  CHECK(question_of({"def crop(self, states):", "    return states[:, :, -self.window:]",
                     "def step(self, keys):", "    keys = torch.cat([self.keys, keys], 2)",
                     "    self.keys, self.other = self.crop(keys), 1"},
                    keys) == open_kind::taken_out);
  CHECK(!question_of({"def scale(self, states):", "    return states / 2", "def step(self, new):",
                      "    self.keys = self.scale(torch.cat([self.keys, new], 2))"},
                     keys));
  const std::vector<std::string> used = {
      "def step(self, new):", "    self.keys = torch.cat([self.keys, new], 2)",
      "    return attend(self.keys[:, :, -self.window:])"};
  CHECK(!question_of(used, keys));
}

TEST_CASE("GIVEN a number of what a container holds THEN it may end there") {
  const std::vector<std::string> lines = {
      "def fit(self, model):", "    every = self.epochs // self.n_estimators",
      "    for epoch in range(self.epochs):", "        if is_time(epoch, every, self.n_features):",
      "            self.estimators_.append(copy(model))"};
  gathered kept{"ensemble.estimators_", 3, "n_estimators=5", true, false};
  CHECK(question_of(lines, kept) == open_kind::named);
  kept.numbers = "n_features=5,epochs=20";
  CHECK(!question_of(lines, kept));
  kept.numbers = "n_estimators=3";
  CHECK(!question_of(lines, kept));
}

TEST_CASE("GIVEN new keys that the callers ask for THEN it may end") {
  const std::vector<std::string> lines = {
      "def add(self, label):", "    self.made[label] = Memory()", "def observe(self, labels):",
      "    for label in set(labels) - set(self.made):", "        self.add(label)"};
  CHECK(question(lines) == open_kind::new_keys);
  auto always = lines;
  always[3] = "    for label in set(labels):";
  CHECK(!question(always));
}

TEST_CASE("GIVEN what each element keeps THEN the elements' container is asked, too") {
  const std::vector<std::string> lines = {"class Memory:",
                                          "    def add(self, rows):",
                                          "        self.rows = torch.cat([self.rows, rows])",
                                          "class Learner:",
                                          "    def observe(self, label, rows):",
                                          "        if label not in self.made:",
                                          "            self.made[label] = Memory()",
                                          "        self.made[label].add(rows)"};
  gathered rows{"learner.made[…].rows", 6, "", true, true};
  CHECK(question_of(lines, rows) == open_kind::new_keys);
  rows.gets_longer = false;
  rows.is_that = true;
  CHECK(!question_of(lines, rows));
}

TEST_CASE("GIVEN a line that is not reached THEN only a container may have run out, not a switch") {
  std::vector<std::string> lines = {
      "def capture(self, x):", "    if not self.waiting:", "        return",
      "    self.made.append(x)", "    self.waiting.pop()"};
  CHECK(question(lines, false) == open_kind::runs_out);
  lines[1] = "    if not self.training:";
  CHECK(!question(lines, false));
}

TEST_CASE("GIVEN something that is taken out past a return, or as often as there is excess") {
  CHECK(question({"def flush(self):", "    if self.count < self.size:", "        return None",
                  "    self.made, self.count = [], 0"}) == open_kind::taken_out);
  CHECK(question({"made.append(x)", "for _ in range(len(made) - room()):", "    made.pop(0)"}) ==
        open_kind::taken_out);
  // Each time.
  CHECK(!question({"made.append(x)", "for _ in range(2):", "    made.pop(0)"}));
}

TEST_CASE("GIVEN a new one under a condition THEN it is the first one, or one of many") {
  CHECK(question({"if args.every is not None and (step + 1) % args.every == 0:",
                  "    made = None"}) == open_kind::taken_out);
  CHECK(!question({"if made is None:", "    made = []", "made.append(x)"}, false));
  CHECK(!question({"if step == 0:", "    made = []", "made.append(x)"}));
  CHECK(!question({"if not state:", "    state['made'] = []"}));
}

TEST_CASE("GIVEN a function that trims what is long THEN it may end") {
  CHECK(question_of({"def shorter(rows, most):", "    if len(rows) <= most:", "        return rows",
                     "    return rows[1:]", "made = shorter(made, limit())"},
                    {"made", 0, "", true, false}) == open_kind::taken_out);
}

TEST_CASE("GIVEN what comes from something that is used up under two conditions THEN it may end") {
  CHECK(question({"tasks = list(range(8))", "while True:", "    if step % 4 == 0 and tasks:",
                  "        made.append(x)", "        task = tasks.pop(0)"}) == open_kind::runs_out);
  CHECK(!question({"while True:", "    if step % 4 == 0 and training:", "        made.append(x)"}));
}

TEST_CASE("GIVEN words that are near and say nothing THEN it is a leak") {
  // A parameter that may be nothing; a word out of a batch that is reallocated.
  CHECK(!question({"def update(self, x, labels):", "    if labels is None:", "        return",
                   "    self.made.append(x)"},
                  false));
  CHECK(!question({"for step in range(9):", "    batch = make_batch()",
                   "    made.append(batch.pop('labels'))"}));
  CHECK(!question(
      {"for step in range(9):", "    rest = all_of(step)", "    made.append(rest.pop())"}));
  // Selected along another dimension than it is joined along.
  CHECK(!question_of(
      {"self.made = torch.cat([self.made, x], 1)", "self.made = self.made[:, :, -width:]"},
      {"model.made", 0, "", true, false}));
}

TEST_CASE("GIVEN a variable that each call of a function makes THEN nothing is taken out of it") {
  CHECK(!question(
      {"def evaluate(model):", "    made, labels = [], []",
       "    for x in batches():", "        made.append(model(x))",
       "for step in range(steps):", "    if step % often == 0:", "        evaluate(model)"}));
}
