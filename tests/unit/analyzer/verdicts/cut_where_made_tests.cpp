// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdicts/cut_where_made.h"

#include <string>
#include <vector>

#include "tests/unit/catch.h"

using memtrace::verdicts::cut_where_made;
using memtrace::verdicts::program_text;

namespace {

// What the function hands on of `known`, which its second line makes longer.
[[nodiscard]] std::string bound(const std::string& last) {
  const std::vector<std::string> lines = {
      "LEFT = 70",
      "def attend(self, x, cache):", "    known = x if cache is None else torch.cat([cache, x], 1)",
      "    y = self.out(known)", "    " + last};
  const auto found = cut_where_made(program_text(lines), 3, "context=40");
  if (found) CHECK(found->line == 5);
  return found ? found->name : std::string();
}

}  // namespace

TEST_CASE(
    "GIVEN a function that hands on the last part of what it made longer THEN that bounds it") {
  CHECK(bound("return y, known[:, -LEFT:]") == "LEFT");
  CHECK(bound("return y, known[-self.context:]") == "self.context");
  CHECK(bound("return y, known[..., -LEFT:, :].contiguous()") == "LEFT");
  CHECK(bound("self.cache = known[:, :LEFT]") == "LEFT");
  CHECK(bound("self.caches[layer] = known[:, -LEFT:]") == "LEFT");
}

TEST_CASE("GIVEN a function that hands on the whole, or nobody knows how much THEN nothing does") {
  CHECK(bound("return y, known").empty());
  CHECK(bound("return y, (known[:, -LEFT:], known)").empty());
  CHECK(bound("return y, known[:, -self.unknown:]").empty());
  CHECK(bound("return y, known[0]").empty());
  CHECK(bound("y = known[:, -LEFT:]").empty());
  CHECK(bound("return y, unknown[:, -LEFT:]").empty());
}

TEST_CASE("GIVEN a line that makes nothing longer, or none THEN nothing does") {
  const program_text program({"def f(x):", "    known = x + 1", "    return known[-5:]"});
  CHECK_FALSE(cut_where_made(program, 2, ""));
  CHECK_FALSE(cut_where_made(program, 0, ""));
  CHECK_FALSE(cut_where_made(program, 9, ""));
}
