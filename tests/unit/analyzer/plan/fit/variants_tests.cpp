// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/fit/launch.h"

#include <variant>

#include "tests/unit/catch.h"

using namespace memtrace;
using words = std::vector<std::string>;

namespace {

[[nodiscard]] fit::axis axis_of(const std::string& text) {
  auto parsed = fit::axis_in(text);
  REQUIRE(std::holds_alternative<fit::axis>(parsed));
  return std::get<fit::axis>(parsed);
}

[[nodiscard]] fit::value_place place_of(const std::string& text) {
  return std::get<fit::value_place>(fit::value_place::parse(text, "--batch"));
}

}  // namespace

TEST_CASE("Axes make every combination, with the command as it is among them") {
  CHECK(axis_of("precision").choices.size() == 3);
  const auto made = fit::combinations({axis_of("p=--bf16|"), axis_of("c=|--check on")});
  REQUIRE(made.size() == 4);
  CHECK(made[0].words == words{"--bf16"});
  CHECK(made[0].names == words{"--bf16", "as is"});
  CHECK(made[1].words == words{"--bf16", "--check", "on"});
  CHECK(made[2].words.empty());
  CHECK(made[3].words == words{"--check", "on"});
  CHECK(fit::combinations({}).size() == 1);
  for (const auto* const wrong : {"speed", "p=--bf16", "=a|b"}) {
    CHECK(std::holds_alternative<fit::complaint>(fit::axis_in(wrong)));
  }
}

TEST_CASE("The accumulation keeps the effective batch at least") {
  CHECK(fit::accumulation_of(64, 8, 1) == 8);
  CHECK(fit::accumulation_of(64, 8, 2) == 4);
  CHECK(fit::accumulation_of(64, 48, 1) == 2);
  CHECK(fit::accumulation_of(64, 65, 1) == 1);
}

TEST_CASE("A trial's values stand in the command") {
  fit::wishes wanted;
  wanted.command = {"python", "t.py", "--batch-size", "8"};
  wanted.variants = fit::combinations({axis_of("p=--bf16|")});
  fit::value_places places{place_of("--batch-size {}"),
                           place_of("--length {}"),
                           {},
                           {},
                           place_of("--steps-of {}"),
                           64,
                           2};
  places.evaluation = place_of("--eval {}");
  fit::trial of{"t4", 1, 16, 128, 0};
  auto made = std::get<fit::launch>(fit::launch_of(wanted, places, of, ""));
  CHECK(made.command == words{"python", "t.py", "--batch-size", "16", "--bf16", "--length", "128",
                              "--steps-of", "2"});
  of.what = fit::batch_of::evaluation;
  of.training_batch = 4;
  of.variant = 1;
  made = std::get<fit::launch>(fit::launch_of(wanted, places, of, ""));
  CHECK(made.command == words{"python", "t.py", "--batch-size", "4", "--eval", "16", "--length",
                              "128", "--steps-of", "8"});
}
