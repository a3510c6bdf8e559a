// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/reallocated.h"

#include <string>
#include <vector>

#include "tests/unit/catch.h"

using memtrace::verdicts::line_that_trims;
using memtrace::verdicts::program_text;
using memtrace::verdicts::trimmed_on_the_way;

namespace {

const std::vector<std::string> gives_back_what_is_short = {
    "class Sinks:",
    "    def __call__(self, keys):",
    "        if keys.size(2) <= self.most:",
    "            return keys",
    "        return torch.cat([keys[:, :, :4], keys[:, :, -40:]], 2)",
    "sinks = Sinks()",
    "past = sinks(past)"};

const std::vector<std::string> cuts_what_is_long = {
    "def shorter(keys, most):", "    if keys.size(2) > most:", "        keys = drop(keys, most)",
    "    return keys", "past = shorter(past, 40)"};

[[nodiscard]] std::size_t asks(const std::vector<std::string>& lines, const std::string& by) {
  return line_that_trims(program_text(lines), "past", by).value_or(0);
}

}  // namespace

TEST_CASE("GIVEN a function that gives back what is short as it is THEN the container is trimmed") {
  CHECK(asks(gives_back_what_is_short, "past = sinks(past)") == 2);
  CHECK(asks(gives_back_what_is_short, "past = [(sinks(k), sinks(v)) for k, v in past]") == 2);
  CHECK(asks(cuts_what_is_long, "past = shorter(past, 40)") == 1);
}

TEST_CASE("GIVEN something else, or a function that cuts nothing THEN it is not") {
  CHECK(asks(gives_back_what_is_short, "other = sinks(past)") == 0);
  CHECK(asks(gives_back_what_is_short, "past = sinks(other)") == 0);
  CHECK(asks(gives_back_what_is_short, "past = unknown(past)") == 0);
  CHECK(asks({"def shorter(keys):", "    if keys.size(2) < 2:", "        return keys",
              "    return keys + 1"},
             "past = shorter(past)") == 0);
  CHECK(asks({"def shorter(keys, most):", "    if keys.size(2) > most:", "        warn(most)",
              "    return keys"},
             "past = shorter(past, 40)") == 0);
}

TEST_CASE("GIVEN functions on the way to an allocation THEN what they hand on may be trimmed") {
  auto lines = gives_back_what_is_short;
  lines.insert(lines.end(), {"def forward(self, x, past):", "    made = [grow(past, x)]",
                             "    return x, self.sinks(made)"});
  CHECK(trimmed_on_the_way(program_text(lines), {9}) == 2);
  lines.back() = "    return x, made";
  CHECK(!trimmed_on_the_way(program_text(lines), {9}));
  lines.back() = "    self.sinks(made)";
  CHECK(!trimmed_on_the_way(program_text(lines), {9}));
  CHECK(!trimmed_on_the_way(program_text(lines), {0, 99}));
  // A parameter beside it; what is given to a name that goes no further.
  lines.back() = "    return made, self.sinks(past)";
  CHECK(!trimmed_on_the_way(program_text(lines), {9}));
  lines.back() = "    mask = self.sinks(made)";
  CHECK(!trimmed_on_the_way(program_text(lines), {9}));
}
