// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <nlohmann/json.hpp>

#include "analyzer/plan/fit/length_law.h"
#include "analyzer/plan/fit/search.h"
#include "analyzer/plan/fit/show.h"
#include "analyzer/plan/fit/trial.h"
#include "tests/unit/analyzer/plan/fit/made_program.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::test;

namespace {

void usual(made_requests& to, std::uint64_t batch, const std::string&) {
  train(to, batch, 20_MiB, 260'000, 4096);
}

[[nodiscard]] fit::wishes two_gpus() {
  fit::wishes wanted;
  wanted.command = {"python", "<b>.py"};
  wanted.gpus = {gpu_of("small", 3_GiB), gpu_of("tiny", 512_MiB)};
  wanted.range.most = 3000;
  wanted.margin_bytes = 512_MiB;
  return wanted;
}

// A program whose memory follows from batch and length: 20 MiB, and for each of the batch 4096
// bytes a token and `square` bytes a pair of tokens.
class prober_of_lengths final : public fit::prober {
 public:
  explicit prober_of_lengths(double square) : square_(square) {}
  [[nodiscard]] fit::probe run(const fit::trial& wanted) override {
    length_ = *wanted.sequence;
    return made_.run(wanted);
  }

 private:
  double square_;
  std::uint64_t length_ = 0;
  made_prober made_{[this](made_requests& to, std::uint64_t batch, const std::string&) {
    const auto tokens = static_cast<double>(length_);
    train(to, batch, 20_MiB, static_cast<std::uint64_t>(4096 * tokens + square_ * tokens * tokens),
          4096);
  }};
};

[[nodiscard]] std::vector<fit::length_law> laws_of(double square,
                                                   const std::vector<std::uint64_t>& lengths) {
  auto wanted = two_gpus();
  wanted.gpus = {gpu_of("large", 8_GiB)};
  wanted.explains = false;
  wanted.sequences.clear();
  for (const auto length : lengths) wanted.sequences.emplace_back(length);
  prober_of_lengths runs(square);
  return fit::length_laws(wanted, fit::make_plan(
                                      wanted, runs, [] { return true; }, [](const fit::row&) {}));
}

}  // namespace

TEST_CASE("Four lengths give one law, which holds at a fifth") {
  const auto laws = laws_of(40, {64, 128, 192, 256});
  REQUIRE(laws.size() == 1);
  CHECK(laws[0].name == "large");
  CHECK(laws[0].checked);
  CHECK(laws[0].error < 0.005);
  // As the program is made: of each pair of tokens 40 bytes where a token has 4096.
  CHECK(laws[0].token_squared / laws[0].token == Approx(40.0 / 4096).epsilon(0.02));
  const auto fifth = laws_of(40, {384, 64});  // the one length has its own dry runs
  REQUIRE(fifth.size() == 1);
  CHECK(laws[0].at(100, 384) == Approx(fifth[0].at(100, 384)).epsilon(0.01));
  const auto sentence = fit::sentence_of(laws[0]);
  CHECK(sentence.find("B × length²") != std::string::npos);
  CHECK(sentence.find("of the 4 lengths tried") != std::string::npos);
}

TEST_CASE("Without a square there is none in the law, and two lengths do not check it") {
  const auto three = laws_of(0, {64, 128, 256});
  REQUIRE(three.size() == 1);
  CHECK(three[0].token_squared == 0);
  CHECK(three[0].checked);
  CHECK(fit::sentence_of(three[0]).find("length²") == std::string::npos);
  const auto two = laws_of(0, {64, 256});
  REQUIRE(two.size() == 1);
  CHECK_FALSE(two[0].checked);
  CHECK(fit::sentence_of(two[0]).find("too few to check it") != std::string::npos);
  CHECK(laws_of(0, {64}).empty());
  CHECK(laws_of(0, {64, 64}).empty());
}

TEST_CASE("JSON, table and page tell the same batches") {
  const auto wanted = two_gpus();
  made_prober runs(usual);
  const auto made = fit::make_plan(
      wanted, runs, [] { return true; }, [](const fit::row&) {});
  REQUIRE(made.rows.size() == 2);
  const auto largest = made.rows[0].found.largest;
  CHECK(made.rows[0].with_margin < largest);

  const auto json = fit::to_json(wanted, made, runs.runs);
  CHECK(json["schema"] == "memtrace-fit/1");
  CHECK(json["dry_runs"] == runs.runs);
  CHECK(json["rows"][0]["largest_batch"] == largest);
  CHECK(json["rows"][0]["refused_batch"] == largest + 1);
  CHECK(json["rows"][0]["capacity_bytes"] == 3_GiB);
  CHECK(json["rows"][1]["largest_batch"] == 0);
  CHECK(json["rows"][1]["verified"] == true);

  const auto text = fit::show(wanted, made).render(false, 200);
  CHECK(text.find("small: batch " + std::to_string(largest) + " fits") != std::string::npos);
  CHECK(text.find("tiny: no batch fits: 1 runs out of memory") != std::string::npos);

  const auto page = fit::to_html(wanted, made);
  CHECK(page.find("<b>" + std::to_string(largest) + "</b>") != std::string::npos);
  CHECK(page.find("&lt;b&gt;.py") != std::string::npos);
  CHECK(page.find("<script") == std::string::npos);
}

TEST_CASE("A dry run's result is read back for the same trial, and for no other") {
  made_prober runs(usual);
  const fit::trial wanted{"t4", 4_GiB, 7, 128, 1, fit::batch_of::generation, 9};
  auto ran = runs.run(wanted);
  ran.stopped_early = true;
  ran.output = "line";
  const auto text = fit::to_text(ran);
  const auto back = fit::probe_in(text, wanted);
  REQUIRE(back);
  CHECK(back->came == ran.came);
  CHECK(back->stopped_early);
  CHECK(back->output == "line");
  CHECK(back->from_cache);
  auto other = wanted;
  other.batch = 8;
  CHECK_FALSE(fit::probe_in(text, other));
  CHECK_FALSE(fit::probe_in("{", wanted));
  CHECK_FALSE(fit::probe_in("[]", wanted));
}

TEST_CASE("The host's memory goes on along the line of what was measured") {
  CHECK_FALSE(fit::host_side_of({}));
  CHECK_FALSE(fit::host_side_of({{4, {}}}));
  const auto found = fit::host_side_of({{4, {1_GiB + 4_MiB, 2, 300_MiB, 8_MiB, 2_GiB, 2}},
                                        {8, {1_GiB + 8_MiB, 2, 300_MiB, 8_MiB, 2_GiB, 2}},
                                        {20, {1_GiB + 20_MiB, 2, 300_MiB, 8_MiB, 2_GiB, 2}}});
  REQUIRE(found);
  CHECK(found->per_item == Approx(1_MiB));
  CHECK(found->constant == Approx(1_GiB));
  const auto sentence = fit::sentence_of(*found, 1000);
  CHECK(sentence.find("1.98 GiB at batch 1000") != std::string::npos);
  CHECK(sentence.find("2 workers with 300 MiB each") != std::string::npos);
  CHECK(sentence.find("; 8 MiB of it pinned") != std::string::npos);
  CHECK(sentence.find("looked at") == std::string::npos);
  CHECK(sentence.find("99 % of the limit of 2 GiB: more than 80 %") != std::string::npos);
}

TEST_CASE("One byte that is pinned is one byte, and none is not said") {
  const auto one = fit::host_side_of({{4, {1_GiB, 0, 0, 1, 0, 0}}});
  REQUIRE(one);
  CHECK(fit::sentence_of(*one, 4).find("from 1 dry run; 1 byte of it pinned") != std::string::npos);
  const auto none = fit::host_side_of({{4, {1_GiB, 0, 0, 0, 0, 0}}});
  REQUIRE(none);
  CHECK(fit::sentence_of(*none, 4).find("pinned") == std::string::npos);
}

TEST_CASE("Workers that nobody looked at are said, with what they may hold") {
  const auto some = fit::host_side_of({{4, {1_GiB, 32, 120_MiB, 0, 0, 12}}});
  REQUIRE(some);
  const auto sentence = fit::sentence_of(*some, 4);
  CHECK(sentence.find("32 workers with 120 MiB each") != std::string::npos);
  CHECK(sentence.find("12 of them were looked at, so that it may be 2.34 GiB more") !=
        std::string::npos);
  const auto none = fit::host_side_of({{4, {1_GiB, 3, 0, 0, 0, 0}}});
  REQUIRE(none);
  CHECK(fit::sentence_of(*none, 4).find("3 workers beside it that were not looked at") !=
        std::string::npos);
}
