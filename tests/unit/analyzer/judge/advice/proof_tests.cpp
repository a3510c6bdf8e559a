// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "analyzer/judge/advice/advise.h"
#include "analyzer/judge/advice/prove.h"
#include "analyzer/judge/blocks/passes.h"
#include "analyzer/judge/blocks/what_follows.h"
#include "analyzer/model/allocator/request_edits.h"
#include "tests/unit/analyzer/judge/advice/small_run.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::advice;
using allocator::request_edits;
using memtrace::test::operator""_MiB;
using test::small_run;

namespace {

constexpr auto mebibyte = static_cast<std::int64_t>(1_MiB);

[[nodiscard]] proposal expandable() {
  proposal what;
  what.id = "expandable_segments";
  what.how = proof::replayed;
  what.options = allocator::settings{};
  what.options->expandable_segments = true;
  return what;
}

[[nodiscard]] proposal halved(const blocks::evidence& of) {
  proposal what;
  what.id = "halves";
  what.rewrite = [count = of.blocks.size()](allocator::request_log& log) {
    request_edits edits;
    for (std::uint32_t block = 0; block < count; ++block) edits.scale(block, 1, 2);
    edits.apply(log);
  };
  return what;
}

}  // namespace

TEST_CASE(
    "GIVEN blocks that grow WHEN segments can, too THEN the largest is all that is reserved") {
  small_run run(test::growing().log);
  const prover by(run.of);
  CHECK(by.peak_before() == (20 + 30 + 40 + 50 + 60) * 1_MiB);
  const auto made = by.prove(expandable());
  REQUIRE(made);
  CHECK(made->saves_bytes == (200 - 60) * mebibyte);
  CHECK(made->saves_bytes_most == made->saves_bytes);
  CHECK(made->saves_allocated == 0);
  CHECK(made->replayed);
  CHECK_FALSE(made->changes_program);
}

TEST_CASE("GIVEN requests of half the size WHEN proved THEN allocated shrinks, too") {
  small_run run(test::growing().log);
  const prover by(run.of);
  const auto made = by.prove(halved(run.of));
  REQUIRE(made);
  // 10, 15, 20, 25 and 30 MiB, each a segment rounded up to 2 MiB.
  CHECK(made->saves_bytes == (200 - (10 + 16 + 20 + 26 + 30)) * mebibyte);
  CHECK(made->saves_allocated == 30 * mebibyte);
}

TEST_CASE("GIVEN what saves nothing WHEN proved THEN nothing is said") {
  small_run run(test::growing().log);
  const prover by(run.of);
  proposal what;
  what.rewrite = [](allocator::request_log&) {};
  CHECK_FALSE(by.prove(what));
}

TEST_CASE("GIVEN two pieces WHEN combined THEN they are replayed together, not added up") {
  small_run run(test::growing().log);
  const prover by(run.of);
  std::vector<piece> pieces = {*by.prove(expandable()), *by.prove(halved(run.of))};
  const auto both = combine(pieces, by);
  REQUIRE(both);
  CHECK(both->ids == std::vector<std::string>{"expandable_segments", "halves"});
  // 30 MiB, mapped by pages of 20.
  CHECK(both->peak_reserved == 40_MiB);
  CHECK(both->saves_bytes == 160 * mebibyte);
  pieces[0].what.group = pieces[1].what.group = "one or the other";
  CHECK_FALSE(combine(pieces, by));
  pieces[0].what.group = "";
  pieces[1].what.changes_results = true;
  CHECK_FALSE(combine(pieces, by));
}

TEST_CASE("GIVEN a device that is too small WHEN segments can grow THEN the refused request fits") {
  // 30 and 40 MiB come and go, and 20 MiB of each are in use again: both segments stay, 120 MiB
  // with a last request of 30. In one segment that grows it is 20 + 20 + 20 + 30, as much as before.
  test::requests program;
  program.allocate(1 << 30, 20_MiB);
  const auto second = program.allocate(2u << 30, 30_MiB);
  const auto third = program.allocate(3u << 30, 40_MiB);
  program.free(second);
  program.free(third);
  const auto low = program.allocate(2u << 30, 20_MiB);
  const auto high = program.allocate(3u << 30, 20_MiB);
  static_cast<void>(low);
  static_cast<void>(high);
  // More than it has had before, and nothing says what follows.
  const auto is_more = GENERATE(false, true);
  program.allocate(0, is_more ? 60_MiB : 30_MiB);
  program.log.total_bytes = program.log.usable_bytes = is_more ? 125_MiB : 115_MiB;
  small_run run(program.log);
  run.ran_out();
  prover by(run.of);
  CHECK(by.ran_out());
  const auto made = by.prove(expandable());
  REQUIRE(made);
  CHECK(made->mends_out_of_memory != is_more);
  CHECK(made->gets_past_request == is_more);
  if (is_more) return;
  CHECK(made->is_settled);
  CHECK(made->saves_bytes > 0);
  auto fits = *made;
  by.find_capacities({&fits});
  REQUIRE(fits.saves_capacity);
  CHECK(*fits.saves_capacity > 0);
}

TEST_CASE("GIVEN a cache that would be given back WHEN memory ran out THEN it is nothing to save") {
  // 20 MiB stay; 30 and 40 MiB come and go, so that a larger device would have 150 MiB reserved.
  test::requests program;
  program.allocate(1 << 30, 20_MiB);
  program.free(program.allocate(2u << 30, 30_MiB));
  program.free(program.allocate(3u << 30, 40_MiB));
  program.allocate(0, 60_MiB);
  program.log.total_bytes = program.log.usable_bytes = 75_MiB;
  small_run run(program.log);
  run.ran_out();
  const prover by(run.of);
  CHECK(by.peak_before() == 80_MiB);
  const auto made = by.prove(halved(run.of));
  REQUIRE(made);
  CHECK(made->mends_out_of_memory);
  CHECK(made->saves_bytes == 40 * mebibyte);
}

TEST_CASE(
    "GIVEN more memory and less time THEN it is proved only while there is plenty of memory") {
  auto program = test::growing();
  // Before every second request but the first.
  std::vector<std::uint64_t> flushed;
  const auto count = program.log.requests.size();
  for (std::size_t at = 2 - count % 2; at < count; at += 2) {
    flushed.push_back(program.log.events[at]);
  }
  add_empty_cache(program.log, flushed);
  proposal without;
  without.saves_ns = 1'000'000;
  without.rewrite = [](allocator::request_log& log) { remove_empty_cache(log); };
  program.log.total_bytes = program.log.usable_bytes = 1024_MiB;
  small_run plenty(program.log);
  const auto made = prover(plenty.of).prove(without);
  REQUIRE(made);
  CHECK(made->saves_bytes == -140 * mebibyte);
  program.log.total_bytes = program.log.usable_bytes = 220_MiB;
  small_run tight(program.log);
  CHECK_FALSE(prover(tight.of).prove(without));
}

TEST_CASE(
    "GIVEN a window of gradients WHEN memory runs out in a later pass THEN it counts as it fills") {
  const auto fills = GENERATE(false, true);
  constexpr std::uint64_t passes = 6;
  test::requests program;
  std::vector<blocks::block_facts> facts;
  const auto make = [&](std::uint64_t bytes, attribution::phase during) {
    auto& made = facts.emplace_back();
    made.born_in = during;
    made.kept_by_autograd = during == attribution::phase::forward;
    made.call = during == attribution::phase::forward ? 1 : 0;
    return program.allocate((facts.size() + 1) << 30, bytes);
  };
  for (std::uint64_t pass = 0; pass < passes; ++pass) {
    const auto forward = make(20_MiB, attribution::phase::forward);
    const auto backward = make(30_MiB, attribution::phase::backward);
    const auto copy = make(4_MiB, attribution::phase::optimizer);
    program.free(forward);
    program.free(backward);
    if (!fills) program.free(copy);
  }
  make(20_MiB, attribution::phase::forward);
  program.allocate(0, 30_MiB);
  facts.emplace_back();
  small_run run(program.log);
  run.ran_out();
  for (std::size_t block = 0; block < facts.size(); ++block) {
    facts[block].free_request = run.of.blocks[block].free_request;
  }
  run.of.blocks = blocks::fact_list(facts);
  const auto refused = blocks::fatal_refusal(run.of);
  REQUIRE(refused);
  const auto found = blocks::needed_after(blocks::run_until(run.of, *refused), run.of.log, 0);
  // 4 MiB a pass, of which seven had begun.
  CHECK(found.rise == (fills ? 7 * 4_MiB : 0));
}

TEST_CASE("GIVEN a first forward pass that failed THEN its backward pass has to fit, too") {
  test::requests program;
  program.allocate(1 << 30, 40_MiB);
  program.allocate(2u << 30, 60_MiB);  // kept for backward, which makes a gradient as large
  program.allocate(0, 30_MiB);
  program.log.total_bytes = program.log.usable_bytes = 125_MiB;
  small_run run(program.log);
  run.ran_out();
  std::vector<blocks::block_facts> facts(3);
  for (const std::size_t in_forward : {1u, 2u}) {
    facts[in_forward].born_in = attribution::phase::forward;
    facts[in_forward].call = 1;
  }
  facts[1].kept_by_autograd = true;
  run.of.blocks = blocks::fact_list(facts);
  const prover by(run.of);
  proposal first_only;
  first_only.rewrite = [](allocator::request_log& log) {
    request_edits edits;
    edits.scale(0, 1, 2);
    edits.apply(log);
  };
  // 20 + 60 + 30 would get past the request, and 60 more are needed.
  const auto some = by.prove(first_only);
  REQUIRE(some);
  CHECK_FALSE(some->mends_out_of_memory);
  // 20 + 30 + 15, and 30 more.
  const auto all = by.prove(halved(run.of));
  REQUIRE(all);
  CHECK(all->mends_out_of_memory);
}
