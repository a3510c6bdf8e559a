// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/blocks/block_collector.h"
#include "analyzer/judge/blocks/first_requests.h"
#include "tests/unit/catch.h"
#include "tests/unit/support/made_layouts.h"

using namespace memtrace;
using namespace memtrace::blocks;
using attribution::category;
using attribution::phase;
using memtrace::test::operator""_MiB;

namespace {

[[nodiscard]] attribution::block_life made_at(std::uint64_t event, std::uint64_t address,
                                              phase during) {
  attribution::block_life block;
  block.born_event = event;
  block.address = address;
  block.born.during = during;
  return block;
}

[[nodiscard]] attribution::classification judged_as(category what) {
  attribution::classification found;
  found.what = what;
  return found;
}

void live_and_die(block_collector& facts, const attribution::block_life& block, category what) {
  facts.born(0, block);
  REQUIRE(facts.ended(0, block, {}));
  facts.judged(0, block, {}, judged_as(what));
}

}  // namespace

TEST_CASE("GIVEN lives and requests WHEN joined THEN each block has its own facts") {
  trace::dictionary names;
  block_collector collector(names, 100);
  test::requests program;  // events are 0, 10, 20, …
  const auto first = program.allocate(64_MiB, 1_MiB);
  program.allocate(0, 99_MiB);  // refused: it is known, and has no life
  program.free(first);
  program.allocate(64_MiB, 2_MiB);
  program.log.addresses[1] = 0;
  live_and_die(collector, made_at(0, 64_MiB, phase::forward), category::activations);
  auto asked_for = made_at(10, 0, phase::forward);
  asked_for.born.call = 7;
  asked_for.stack.value = 3;
  collector.refused(0, asked_for);
  live_and_die(collector, made_at(30, 64_MiB, phase::backward), category::gradients);
  const auto facts = collector.facts_of(program.log);
  REQUIRE(facts.size() == 3);
  CHECK(facts[0].what == category::activations);
  CHECK(facts[0].free_request == 2);
  CHECK(facts[1].what == category::unknown);
  CHECK(facts[1].born_in == phase::forward);
  CHECK(facts[1].call == 7);
  CHECK(facts[1].stack.value == 3);
  CHECK(facts[2].what == category::gradients);
  CHECK(facts[2].born_in == phase::backward);
  CHECK(facts[2].free_request == never);
}

TEST_CASE("GIVEN what is made after a model was evaluated THEN it belongs to the evaluation") {
  trace::dictionary names;
  block_collector collector(names, 100);
  test::requests program;
  for (std::uint64_t i = 0; i < 4; ++i) program.allocate(64_MiB * (i + 1), 1_MiB);
  const phase phases[] = {phase::other, phase::evaluation, phase::other, phase::forward};
  for (std::uint64_t i = 0; i < 4; ++i) {
    collector.born(0, made_at(10 * i, 64_MiB * (i + 1), phases[i]));
  }
  const auto facts = collector.facts_of(program.log);
  CHECK_FALSE(facts[0].evaluation);
  CHECK(facts[1].evaluation);
  CHECK(facts[2].evaluation);
  CHECK_FALSE(facts[3].evaluation);
}

TEST_CASE("GIVEN what autograd kept THEN its shape and width are known") {
  trace::dictionary names;
  block_collector collector(names, 100);
  test::requests program;
  program.allocate(64_MiB, 1_MiB);
  auto block = made_at(0, 64_MiB, phase::forward);
  block.saved.times = 1;
  block.saved.dimensions = 4;
  block.saved.rows = std::uint64_t{1} << 40;
  block.saved.columns = 77;
  block.saved.scalar_type = 15;
  live_and_die(collector, block, category::activations);
  const auto facts = collector.facts_of(program.log);
  CHECK(facts[0].kept_by_autograd);
  CHECK(facts[0].dimensions == 4);
  CHECK(facts[0].rows == 0xffffffffu);  // as far as it goes
  CHECK(facts[0].columns == 77);
  CHECK(facts[0].element_bits == 16);
}

TEST_CASE("GIVEN more blocks than are kept THEN the first ones are known") {
  trace::dictionary names;
  block_collector collector(names, 1);
  test::requests program;
  program.allocate(64_MiB, 1_MiB);
  program.allocate(128_MiB, 1_MiB);
  live_and_die(collector, made_at(0, 64_MiB, phase::forward), category::activations);
  const auto late = made_at(10, 128_MiB, phase::forward);
  collector.born(0, late);
  CHECK_FALSE(collector.ended(0, late, {}));
  const auto facts = collector.facts_of(program.log);
  CHECK(facts[0].what == category::activations);
  CHECK(facts[1].what == category::unknown);
}

TEST_CASE(
    "GIVEN a limit WHEN requests pass it THEN all records up to the last of them go through") {
  class counting final : public trace::record_visitor {
   public:
    void on_allocator(const trace::event&, const trace::allocator_event&) override { ++events; }
    void on_report(const trace::report_event&) override { ++reports; }
    int events = 0;
    int reports = 0;
  };
  counting seen;
  first_requests first(seen, 2);
  const auto pass = [&](format::kind kind) {
    trace::allocator_event record;
    record.kind = kind;
    first.on_allocator({}, record);
    first.on_report({});
  };
  pass(format::kind::segment_alloc);
  pass(format::kind::alloc);
  CHECK_FALSE(first.cut());
  pass(format::kind::free_requested);
  CHECK_FALSE(first.cut());
  pass(format::kind::free_completed);
  CHECK(first.cut());
  CHECK(seen.events == 3);
  CHECK(seen.reports == 3);
}
