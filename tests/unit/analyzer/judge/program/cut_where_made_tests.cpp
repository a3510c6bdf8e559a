// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/cuts.h"

#include <string>
#include <vector>

#include "tests/unit/catch.h"

using memtrace::verdicts::cut_where_made;
using memtrace::verdicts::made_longer_at;
using memtrace::verdicts::owner_is_cut;
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
  CHECK(bound("return y, known[:, -self.context:]") == "self.context");
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

TEST_CASE("GIVEN a longer tensor that is cut at once THEN that bounds it") {
  const auto cut = [](const std::string& line) {
    const auto found = cut_where_made(program_text({line}), 1, "");
    return found ? found->name : std::string();
  };
  CHECK(cut("memory = torch.cat([before, states[: self.reused]], dim=0)[-self.length:]") ==
        "self.length");
  CHECK(cut("return torch.cat((memory, states), 1)[:, -160:]") == "160");
  CHECK(cut("return torch.cat([memory, states], 1)").empty());
  CHECK(cut("return torch.cat([memory[-5:], states], 1)").empty());
  CHECK(cut("return torch.cat([memory, states], 1)[0]").empty());
  CHECK(cut("return torch.cat([memory, states])[:, -160:]").empty());  // columns, not rows
}

TEST_CASE("GIVEN an object that is cut each time THEN that bounds what it keeps") {
  const auto cut = [](const std::string& line, const std::string& variable) {
    const auto found = owner_is_cut(program_text({"def add(self, new):", line}), variable);
    if (found) CHECK(found->line == 2);
    return found ? found->name : std::string();
  };
  const std::string line = "    self.kept = self.kept[-self.capacity:]";
  CHECK(cut(line, "buffer.kept.states") == "self.capacity");
  CHECK(cut(line, "buffer.kept").empty());  // itself, which others ask about
  CHECK(cut(line, "buffer.others.states").empty());
  CHECK(cut("    self.kept = self.others[-self.capacity:]", "buffer.kept.states").empty());
  CHECK(cut("    self.last = self.kept[-self.capacity:]", "buffer.kept.states").empty());
}

TEST_CASE("GIVEN a line that makes a tensor longer THEN its variable is known") {
  const program_text program(
      {"rows = torch.cat((rows, (one - mean).view(-1,", "  1).t()), dim=0)", "other = rows + 1"});
  CHECK(made_longer_at(program, 1) == "rows");
  CHECK(made_longer_at(program, 2) == "rows");
  CHECK(made_longer_at(program, 3).empty());
}

TEST_CASE("GIVEN several that are made longer and each cut THEN that bounds them") {
  const auto line_of = [](const std::string& last,
                          const std::string& made =
                              "    joined = [torch.cat([m, h]) for m, h in zip(mems, hids)]") {
    const auto found =
        cut_where_made(program_text({"def update(self, mems, hids):", made, "    " + last}), 2);
    return found ? found->left : std::string();
  };
  CHECK(line_of("return [one[-self.length:].detach() for one in joined]") == "self.length");
  CHECK(line_of("return [one[-self.length:] for i, one in enumerate(joined)]") == "self.length");
  CHECK(line_of("return [one for one in joined]").empty());
  CHECK(line_of("return joined").empty());
  CHECK(line_of("return None",
                "    mems = [one[-n:] for one in [torch.cat([m, h]) for m, h in both]]") == "n");
  CHECK(line_of("return None",
                "    mems = [one[:, -n:] for one in [torch.cat([m, h]) for m, h in both]]")
            .empty());
}

TEST_CASE("GIVEN a length that nobody knows THEN it is cut, but bounds nothing that can be said") {
  const program_text program(
      {"def update(self, rows):", "    longer = torch.cat([self.rows, rows])",
       "    self.rows = longer[-self.length:]"});
  CHECK(cut_where_made(program, 2));
  CHECK(!cut_where_made(program, 2, ""));
  CHECK(cut_where_made(program, 2, "length=40"));
}
