// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/reallocated.h"

#include "tests/unit/catch.h"

using memtrace::verdicts::is_made_of_itself;
using memtrace::verdicts::is_reallocated;
using memtrace::verdicts::program_text;

namespace {

[[nodiscard]] bool anew(std::vector<std::string> in_the_loop, const char* variable = "answers") {
  std::vector<std::string> lines = {"def main(steps):", "    bank, seen, size = None, [], 8",
                                    "    for step in range(steps):"};
  for (const auto& line : in_the_loop) lines.push_back("        " + line);
  return is_reallocated(program_text(lines), variable);
}

}  // namespace

TEST_CASE("GIVEN a variable that each step gives something new THEN it is made anew") {
  CHECK(anew({"answers = [net(crop) for crop in crops(pictures, 1 + step // 5)]"}));
  CHECK(anew({"last = net(pictures, min(40 + 16 * step, 400))", "answers, scores = last"}));
  CHECK(anew({"size = size + 16", "answers = net(torch.randn(size, 8))"}));
  CHECK(anew({"answers = []", "for crop in crops:", "    answers.append(net(crop))"}));
}

TEST_CASE("GIVEN a length that a method of this name gives THEN it is not made of itself") {
  const std::vector<std::string> lines = {
      "class Warmup:",
      "    def length(self, step):",
      "        return min(128, 8 + step)",
      "    def apply(self, step, batch):",
      "        length = self.length(step)",
      "        return {name: tokens[:, :length] for name, tokens in batch.items()}",
      "def main(steps):",
      "    warmup = Warmup()",
      "    for step in range(steps):",
      "        batch = {\"ids\": torch.randint(9, (4, 128))}",
      "        batch = warmup.apply(step, batch)",
      "        answers = net(batch[\"ids\"])"};
  CHECK(is_reallocated(program_text(lines), "answers"));
}

TEST_CASE("GIVEN what is made of a text that loses words, or is begun again THEN it is made anew") {
  CHECK(!anew({"text += [word]", "answers = net(text)"}));
  CHECK(anew({"text += [word]", "if len(text) > 960: text.pop(0)", "answers = net(text)"}));
  std::vector<std::string> lines = {"class Writer:",
                                    "    def begin(self, prompt):",
                                    "        self.tokens = list(prompt)",
                                    "    def next(self):",
                                    "        answers = self.net(torch.tensor(self.tokens))",
                                    "        self.tokens.append(word)",
                                    "        return answers",
                                    "def main(steps):",
                                    "    for step in range(steps):",
                                    "        if len(writer.tokens) > 40: writer.begin(prompt)",
                                    "        answers = writer.next()"};
  CHECK(is_reallocated(program_text(lines), "answers"));
  lines[9] = "        pass";  // nothing calls begin()
  CHECK(!is_reallocated(program_text(lines), "answers"));
}

TEST_CASE("GIVEN a variable of this name in another function THEN it is another one") {
  std::vector<std::string> lines = {"def generate(net, prompt):",
                                    "    tokens = list(prompt)",
                                    "    while True:",
                                    "        scores = net(torch.tensor(tokens))",
                                    "        tokens.append(word)",
                                    "        yield scores",
                                    "def main(steps):",
                                    "    tokens = generate(net, prompt)",
                                    "    for step in range(steps):",
                                    "        answers = next(tokens)"};
  CHECK(is_reallocated(program_text(lines), "answers"));
  lines.emplace_back("        tokens.append(word)");
  CHECK(!is_reallocated(program_text(lines), "answers"));
}

TEST_CASE("GIVEN a variable that has something of all steps THEN it is not") {
  CHECK(!anew({"answers = torch.cat([answers, row])"}));
  CHECK(!anew({"joined = torch.cat([answers, row])", "answers = joined"}));
  CHECK(!anew({"bank = row if bank is None else torch.cat([bank, row])", "answers = rows @ bank"}));
  CHECK(!anew({"seen.append(row)", "answers = torch.stack(seen)"}));
  CHECK(!anew({"answers.append(row)"}));
  CHECK(!anew({"others = net(row)"}));
}

TEST_CASE(
    "GIVEN a variable that is made of what it was THEN a step does not give it something new") {
  const auto of_itself = [](std::vector<std::string> lines) {
    return is_made_of_itself(program_text(lines), "states");
  };
  CHECK(of_itself({"states = [0.9 * state for state in states] + [x]"}));
  CHECK(of_itself({"older = [0.9 * state for state in states]", "states = older + [x]"}));
  CHECK(!of_itself({"states = [start]", "for _ in range(count):", "    states.append(step(x))"}));
}
