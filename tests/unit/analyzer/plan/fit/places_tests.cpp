// SPDX-License-Identifier: Apache-2.0
#include <variant>

#include "analyzer/plan/fit/value_place.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using words = std::vector<std::string>;

namespace {

[[nodiscard]] words put(const std::string& place, const words& command) {
  auto parsed = fit::value_place::parse(place, "--batch");
  REQUIRE(std::holds_alternative<fit::value_place>(parsed));
  fit::launch start{command, {}};
  CHECK(std::get<fit::value_place>(parsed).put("32", start, "").empty());
  return start.command;
}

}  // namespace

TEST_CASE("A flag takes the place of the same flag, however it is written, or is appended") {
  CHECK(put("--batch-size {}", {"python", "t.py"}) ==
        words{"python", "t.py", "--batch-size", "32"});
  CHECK(put("--batch-size {}", {"python", "t.py", "--batch-size", "8", "--lr", "1"}) ==
        words{"python", "t.py", "--batch-size", "32", "--lr", "1"});
  CHECK(put("--batch-size {}", {"python", "t.py", "--batch-size=8"}) ==
        words{"python", "t.py", "--batch-size=32"});
  CHECK(put("--batch-size={}", {"python", "t.py", "--batch-size", "8"}) ==
        words{"python", "t.py", "--batch-size", "32"});
  CHECK(put("--batch_size {}", {"python", "t.py", "--batch-size", "8"}) ==
        words{"python", "t.py", "--batch-size", "32"});
  CHECK(put("train.batch={}", {"python", "t.py", "train.batch=8", "x=1"}) ==
        words{"python", "t.py", "train.batch=32", "x=1"});
  CHECK(put("-b {} --eval {}", {"python", "t.py", "--eval", "1"}) ==
        words{"python", "t.py", "--eval", "32", "-b", "32"});
}

TEST_CASE("A variable of the environment, and a place without a hole") {
  auto parsed = fit::value_place::parse("env:BATCH={}", "--batch");
  fit::launch start{{"python"}, {}};
  CHECK(std::get<fit::value_place>(parsed).put("32", start, "").empty());
  REQUIRE(start.environment.size() == 1);
  CHECK(start.environment[0] == std::pair<std::string, std::string>("BATCH", "32"));
  CHECK(std::holds_alternative<fit::complaint>(fit::value_place::parse("--batch", "--batch")));
  CHECK(std::holds_alternative<fit::complaint>(fit::value_place::parse("env:{}", "--batch")));
}

TEST_CASE("Words are split as a shell does") {
  CHECK(fit::words_of("a 'b c' \"d\\\"e\" f\\ g  ''") == words{"a", "b c", "d\"e", "f g", ""});
}

TEST_CASE("A key of a YAML file is set in its own mapping, and the rest stays as it is") {
  std::string text = "batch: 1\ntrain:\n  batch: 2  # small\n  lr: 3\nevaluation:\n  batch: 4\n";
  CHECK(fit::set_in_yaml(text, "train.batch", "32"));
  CHECK(text == "batch: 1\ntrain:\n  batch: 32  # small\n  lr: 3\nevaluation:\n  batch: 4\n");
  CHECK(fit::set_in_yaml(text, "batch", "7"));
  CHECK(text.starts_with("batch: 7\n"));
  const auto before = text;
  CHECK_FALSE(fit::set_in_yaml(text, "train.size", "1"));
  CHECK(text == before);
}

TEST_CASE("A key of a JSON file is set with its type") {
  std::string text = R"({"train": {"batch": 2, "name": "a"}})";
  CHECK(fit::set_in_json(text, "train.batch", "32"));
  CHECK(text.find("\"batch\": 32") != std::string::npos);
  CHECK_FALSE(fit::set_in_json(text, "train.size", "1"));
}
