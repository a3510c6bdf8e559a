// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/allocator/settings_of_environment.h"

#include "tests/unit/catch.h"

namespace memtrace::allocator {

namespace {

constexpr char cuda[] = "PYTORCH_CUDA_ALLOC_CONF";
constexpr char any[] = "PYTORCH_ALLOC_CONF";

struct given {
  std::string torch = "2.11.0+cu130";
  std::vector<std::pair<std::string, std::string>> at_start = {};
  std::vector<std::pair<std::string, std::string>> by_program = {};
  std::vector<std::string> told = {};
};

[[nodiscard]] settings_of_environment settings_of(const given& run) {
  settings_of_environment made;
  made.info("torch", run.torch);
  for (const auto& [name, value] : run.by_program) made.info("set_by_program." + name, value);
  for (const auto& [name, value] : run.at_start) made.info("env." + name, value);
  for (const auto& text : run.told) made.told(text);
  return made;
}

[[nodiscard]] std::string only(const std::vector<std::string>& sentences) {
  REQUIRE(sentences.size() == 1);
  return sentences[0];
}

}  // namespace

TEST_CASE("GIVEN one variable WHEN PyTorch reads it THEN it is in force") {
  const auto found = settings_of({.at_start = {{any, "max_split_size_mb:40"}}});
  CHECK(found.in_force() == "max_split_size_mb:40");
  CHECK(found.without_effect().empty());
}

TEST_CASE("GIVEN both variables THEN that of CUDA is in force, even an empty one") {
  for (const std::string text : {"max_split_size_mb:30", ""}) {
    const auto found = settings_of(
        {.at_start = {{cuda, text}, {any, "expandable_segments:True"}}, .told = {text}});
    CHECK(found.in_force() == text);
    CHECK(only(found.without_effect()) ==
          "PYTORCH_ALLOC_CONF=expandable_segments:True has no effect: PYTORCH_CUDA_ALLOC_CONF is "
          "set, too, and goes before it.");
  }
}

TEST_CASE("GIVEN PyTorch 2.8 THEN the general variable has no effect") {
  const auto found =
      settings_of({.torch = "2.8.0+cu128", .at_start = {{any, "expandable_segments:True"}}});
  CHECK(found.in_force().empty());
  CHECK(only(found.without_effect()) ==
        "PYTORCH_ALLOC_CONF=expandable_segments:True has no effect: PyTorch 2.8.0+cu128 reads "
        "PYTORCH_CUDA_ALLOC_CONF alone.");
}

TEST_CASE("GIVEN a program that sets a variable WHEN PyTorch does not tell of it THEN too late") {
  given run{.at_start = {{cuda, "expandable_segments:True"}},
            .by_program = {{cuda, "expandable_segments:True"}}};
  CHECK(settings_of(run).in_force().empty());
  CHECK(only(settings_of(run).without_effect()) ==
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True has no effect: the program sets it after "
        "PyTorch has read its settings; set it before the program starts.");
  run.told = {"expandable_segments:True"};
  CHECK(settings_of(run).without_effect().empty());
}

TEST_CASE(
    "GIVEN an allocator that tells no settings WHEN the program sets one THEN it is in force") {
  settings_of_environment found;
  found.info("torch", "2.11.0+cu130");
  found.info("event_source", "reports");
  found.info("set_by_program.PYTORCH_CUDA_ALLOC_CONF", "backend:cudaMallocAsync");
  CHECK(found.in_force() == "backend:cudaMallocAsync");
  CHECK(found.without_effect().empty());
}

TEST_CASE("GIVEN settings under a name that PyTorch does not know THEN they have no effect") {
  const auto found =
      settings_of({.at_start = {{"PYTORCH_CUDA_ALLOC_CONFIG", "expandable_segments:True"}}});
  CHECK(only(found.without_effect()) ==
        "PYTORCH_CUDA_ALLOC_CONFIG=expandable_segments:True has no effect: PyTorch reads "
        "PYTORCH_CUDA_ALLOC_CONF.");
}

TEST_CASE("GIVEN a trace without the environment THEN its alloc_conf is in force") {
  settings_of_environment found;
  found.info("torch", "2.11.0+cu130");
  found.info("alloc_conf", "max_split_size_mb:40");
  CHECK(found.in_force() == "max_split_size_mb:40");
}

}  // namespace memtrace::allocator
