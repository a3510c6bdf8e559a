// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/estimate/plan.h"

#include <limits>

#include "analyzer/model/estimate/estimate.h"
#include "tests/unit/catch.h"

using namespace memtrace::estimate;

namespace {

plan of_preset(const char* name) {
  plan wanted;
  wanted.model = name;
  wanted.shape = find_preset(name);
  wanted.sequence = 128;
  REQUIRE(wanted.shape);
  return wanted;
}

}  // namespace

TEST_CASE("What cannot be estimated is said in a sentence") {
  CHECK_FALSE(problem_with(plan{}).empty());
  plan without_shape;
  without_shape.parameters = 1000;
  CHECK(problem_with(without_shape).empty());
  without_shape.sequence = 128;
  CHECK_FALSE(problem_with(without_shape).empty());
  without_shape.sequence = 0;
  without_shape.lora.rank = 8;
  CHECK_FALSE(problem_with(without_shape).empty());
}

TEST_CASE("Figures out of all proportion are refused") {
  constexpr auto largest = std::numeric_limits<std::uint64_t>::max();
  auto wanted = of_preset("gpt2");
  CHECK(problem_with(wanted).empty());
  const auto refuses = [&](auto change) {
    auto changed = wanted;
    change(changed);
    return !problem_with(changed).empty();
  };
  CHECK(refuses([](plan& one) { one.batch = 0; }));
  CHECK(refuses([=](plan& one) { one.batch = largest; }));
  CHECK(refuses([=](plan& one) { one.sequence = largest; }));
  CHECK(refuses([=](plan& one) { one.decoder_sequence = largest; }));
  CHECK(refuses([=](plan& one) { one.parameters = largest; }));
  CHECK(refuses([=](plan& one) { one.shape->layers = largest; }));
  CHECK(refuses([=](plan& one) { one.shape->hidden = largest; }));
  CHECK(refuses([=](plan& one) { one.shape->vocabulary = largest; }));
  CHECK(refuses([](plan& one) { one.shape->heads = 7; }));
  CHECK(refuses([](plan& one) { one.shape->kv_heads = 13; }));
  CHECK(refuses([](plan& one) { one.devices = 0; }));
  CHECK(refuses([](plan& one) { one.lora.rank = 769; }));
}

TEST_CASE("An estimate names each term with its formula, and the sources below") {
  const auto wanted = of_preset("t5-small");
  const auto made = make_estimate(wanted);
  const auto text = to_text(wanted, made, {});
  for (const auto& one : made.terms) {
    INFO(one.id);
    CHECK(text.find(one.name) != text.npos);
    CHECK(text.find(one.formula) != text.npos);
    CHECK(text.find(citation(one.from)) != text.npos);
  }
}
