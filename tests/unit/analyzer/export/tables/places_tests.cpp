// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/tables/places.h"

#include <string>
#include <vector>

#include "tests/unit/catch.h"

using namespace memtrace;
using tables::value;

namespace {

struct kept_rows final : tables::sink {
  void add(const tables::table& to, std::span<const value> row) override {
    if (&to == &tables::frames) frames.emplace_back(std::get<std::string_view>(row[5]));
    if (&to == &tables::stacks) {
      const auto* const caller = std::get_if<std::int64_t>(&row[1]);
      callers.push_back(caller == nullptr ? 0 : *caller);
    }
  }
  std::optional<std::string> finish() override { return std::nullopt; }
  std::vector<std::string> frames;
  std::vector<std::int64_t> callers;
};

// main.py:3 main → FILE:9 inner
[[nodiscard]] trace::stack_id define(trace::dictionary& names, std::string_view file) {
  using outcome = trace::dictionary::outcome;
  REQUIRE(names.define_text("main.py") == outcome::defined);
  REQUIRE(names.define_text("main") == outcome::defined);
  REQUIRE(names.define_text(file) == outcome::defined);
  REQUIRE(names.define_text("inner") == outcome::defined);
  REQUIRE(names.define_frame(1, 2, 3) == outcome::defined);
  REQUIRE(names.define_frame(3, 4, 9) == outcome::defined);
  REQUIRE(names.define_stack(0, 1) == outcome::defined);
  REQUIRE(names.define_stack(1, 2) == outcome::defined);
  return names.stack_of(2);
}

}  // namespace

TEST_CASE("GIVEN two processes WHEN they have the same stacks THEN these have the same numbers") {
  kept_rows rows;
  tables::places known(rows);
  trace::dictionary first, second;
  const auto stack = define(first, "own.py");
  const auto number = known.stack(first, stack);
  CHECK(number == 2);
  CHECK(known.stack(first, stack) == number);
  CHECK(known.stack(first, first.stack_of(1)) == 1);
  known.next_process();
  CHECK(known.stack(second, define(second, "own.py")) == number);
  CHECK(rows.frames == std::vector<std::string>{"main.py:3 main", "own.py:9 inner"});
  CHECK(rows.callers == std::vector<std::int64_t>{0, 1});
}

TEST_CASE(
    "GIVEN a stack WHEN its site is asked THEN it is the user's innermost frame, else the "
    "innermost") {
  kept_rows rows;
  tables::places known(rows);
  trace::dictionary names, libraries;
  const auto own = known.site_of(known.stack(names, define(names, "own.py")));
  CHECK(known[own].line == "own.py:9 inner");
  known.next_process();
  const auto stack =
      known.stack(libraries, define(libraries, "/lib/site-packages/torch/nn/modules/linear.py"));
  CHECK(known[known.site_of(stack)].line == "main.py:3 main");
  CHECK(known.site_of(0) == 0);
  const code::source_frame library{"/usr/lib/python3.11/json/decoder.py", 1, "decode", false};
  const code::source_frame outer{"/usr/lib/python3.11/runpy.py", 2, "run", false};
  CHECK(known[known.site_of({library, outer})].line ==
        "/usr/lib/python3.11/json/decoder.py:1 decode");
  CHECK(known.site_of(std::vector<code::source_frame>()) == 0);
}
