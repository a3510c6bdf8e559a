// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/signs_of_end.h"

#include <string>
#include <vector>

#include "tests/unit/catch.h"

using memtrace::verdicts::line_for_larger_only;
using memtrace::verdicts::program_text;

namespace {

// The number of the line that asks, from 0.
[[nodiscard]] std::optional<std::size_t> asks(const std::vector<std::string>& lines,
                                              const std::string& name = "cos") {
  return line_for_larger_only(program_text(lines), name);
}

}  // namespace

TEST_CASE(
    "GIVEN a table with its length beside it WHEN a longer one is asked for THEN it is made") {
  const std::vector<std::string> lines = {
      "class Rotary(nn.Module):",
      "    def __init__(self, dim):",
      "        self.longest = None",
      "        self.make_table(32)",
      "    def make_table(self, length):",
      "        self.longest = length",
      "        t = torch.arange(length)",
      R"(        self.register_buffer("cos", torch.outer(t, self.inv).cos(), persistent=False))",
      "    def forward(self, x, length):",
      "        if length > self.longest:",
      "            self.make_table(length)",
      "        return self.cos[:length]"};
  CHECK(asks(lines) == 9);
  auto always = lines;
  always[9] = "        if self.training:";
  CHECK_FALSE(asks(always));
  auto elsewhere = lines;
  elsewhere.emplace_back("    def add(self, x):");
  elsewhere.emplace_back("        self.cos = torch.cat([self.cos, x])");
  CHECK_FALSE(asks(elsewhere));
}

TEST_CASE("GIVEN a table that is asked for its own length THEN it is made for larger ones only") {
  CHECK(asks({"def forward(self, x):", "    if self.cos is None or x.shape[0] > self.cos.shape[0]:",
              "        self.cos = self.angles(x.shape[0])"}) == 1);
  CHECK(asks({"def forward(self, x):", "    if self.cos is None or len(x) > self.cos[0].size(0):",
              "        self.cos = self.angles(len(x))"}) == 1);
  CHECK(asks({"def table(self, length):", "    if length <= self.longest:",
              "        return self.cos[:length]", "    self.longest = length",
              "    self.cos = self.angles(length)", "    return self.cos"}) == 1);
}

TEST_CASE("GIVEN what is not asked for its size THEN nobody knows") {
  CHECK_FALSE(asks({"def forward(self, x):", "    if self.cos is None:",
                    "        self.cos = self.angles(x.shape[0])"}));
  CHECK_FALSE(asks({"def forward(self, x):", "    if self.steps > 10:",
                    "        self.cos = self.angles(x.shape[0])"}));
  CHECK_FALSE(asks({"def forward(self, x):", "    return self.cos.shape[0] > 3"}));
  CHECK_FALSE(asks({"def trim(self):", "    if len(self.cos) > self.most:",
                    "        self.cos = self.cos[-self.most:]"}));
  CHECK_FALSE(asks({}));
}
