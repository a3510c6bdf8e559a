// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "analyzer/judge/advice/advise.h"
#include "tests/unit/catch.h"

using namespace memtrace::advice;

namespace {

constexpr std::int64_t mebibyte = 1 << 20;

[[nodiscard]] piece saving(std::string id, std::int64_t mebibytes, bool setting = false) {
  piece made;
  made.what.id = std::move(id);
  made.what.how = setting ? proof::replayed : proof::estimated;
  made.changes_program = !setting;
  made.replayed = true;
  made.saves_bytes = mebibytes * mebibyte;
  return made;
}

[[nodiscard]] std::string ids_of(const std::vector<piece>& pieces) {
  std::string ids;
  for (const auto& one : pieces) ids += one.what.id + " ";
  return ids;
}

[[nodiscard]] std::string ranked(std::vector<piece> pieces) {
  rank(pieces);
  return ids_of(pieces);
}

}  // namespace

TEST_CASE("GIVEN pieces WHEN ranked THEN most bytes come first") {
  CHECK(ranked({saving("few", 10), saving("many", 1000), saving("some", 100)}) == "many some few ");
}

TEST_CASE("GIVEN about equal savings WHEN ranked THEN a setting comes before a change of program") {
  CHECK(ranked({saving("batch", 1000), saving("setting", 960, true)}) == "setting batch ");
  CHECK(ranked({saving("batch", 1000), saving("setting", 900, true)}) == "batch setting ");
}

TEST_CASE("GIVEN another training WHEN ranked THEN it is second where bytes are equal or enough") {
  auto shorter = saving("sequence_length", 1000);
  shorter.what.changes_results = true;
  CHECK(ranked({shorter, saving("checkpointing", 960)}) == "checkpointing sequence_length ");
  CHECK(ranked({shorter, saving("checkpointing", 900)}) == "sequence_length checkpointing ");
  auto enough = saving("checkpointing", 400);
  shorter.mends_out_of_memory = enough.mends_out_of_memory = true;
  CHECK(ranked({shorter, enough}) == "checkpointing sequence_length ");
}

TEST_CASE("GIVEN a program that ran out of memory WHEN ranked THEN what mends it comes first") {
  auto mends = saving("mends", 10);
  mends.mends_out_of_memory = true;
  CHECK(ranked({saving("large", 1000), mends}) == "mends large ");
}

TEST_CASE("GIVEN several that mend it WHEN ranked THEN a setting is enough, whatever it saves") {
  auto setting = saving("setting", 10, true);
  setting.what.options = memtrace::allocator::settings{};
  auto change = saving("change", 1000);
  setting.mends_out_of_memory = change.mends_out_of_memory = true;
  CHECK(ranked({change, setting}) == "setting change ");
}

TEST_CASE("GIVEN time or host memory WHEN ranked THEN they follow all that saves device memory") {
  auto time = saving("time", 0);
  time.what.saves_ns = 1'000'000'000;
  auto host = saving("host", 0);
  host.what.saves_host_bytes = 1 << 30;
  CHECK(ranked({time, host, saving("bytes", 3)}) == "bytes host time ");
}

TEST_CASE("GIVEN a piece THEN it is worth a word if it saves something that counts") {
  CHECK(is_worth_it(saving("a", 2), 2 * mebibyte));
  CHECK_FALSE(is_worth_it(saving("a", 1), 2 * mebibyte));
  CHECK_FALSE(is_worth_it(saving("a", -5), 2 * mebibyte));
  auto mends = saving("a", -5);
  mends.mends_out_of_memory = true;
  CHECK(is_worth_it(mends, 2 * mebibyte));
  auto fits = saving("a", 0);
  fits.saves_capacity = 3 * mebibyte;
  CHECK(is_worth_it(fits, 2 * mebibyte));
  auto time = saving("a", 0);
  time.what.saves_ns = 1;
  CHECK(is_worth_it(time, 2 * mebibyte));
}

namespace {

[[nodiscard]] piece option(std::string id, std::int64_t mebibytes) {
  auto made = saving(std::move(id), mebibytes, true);
  made.what.group = options_group;
  return made;
}

[[nodiscard]] piece expandable(std::int64_t mebibytes) {
  auto made = option("expandable_segments", mebibytes);
  made.what.holds_at_any_address = true;
  return made;
}

[[nodiscard]] std::string kept(std::vector<piece> pieces) {
  rank(pieces);
  keep_best(pieces);
  return ids_of(pieces);
}

}  // namespace

TEST_CASE("GIVEN many settings THEN the best is said, and expandable segments beside it") {
  CHECK(kept({option("roundup_power2", 900), option("max_split_size", 500), expandable(300),
              saving("batch", 700)}) == "roundup_power2 batch expandable_segments ");
}

TEST_CASE("GIVEN settings about as good as expandable segments THEN those are said alone") {
  CHECK(kept({option("alloc_options", 1000), expandable(980), option("roundup_power2", 100)}) ==
        "expandable_segments ");
}

TEST_CASE("GIVEN several places for empty_cache THEN the best is said") {
  auto each = saving("each step", 500, true);
  each.what.group = empty_cache_group;
  auto after = saving("after evaluation", 400, true);
  after.what.group = empty_cache_group;
  CHECK(kept({after, each, saving("batch", 100)}) == "each step batch ");
}

TEST_CASE(
    "GIVEN two parts of a batch WHEN both let the program pass THEN the larger one is first") {
  auto quarter = saving("train_batch_quarter", 600);
  auto half = saving("train_batch_half", 400);
  half.what.group = quarter.what.group = "train_batch";
  half.what.amount = "1/2";
  quarter.what.amount = "1/4";
  auto other = saving("mixed_precision", 500);
  CHECK(ranked({half, other, quarter}) == "train_batch_quarter mixed_precision train_batch_half ");
  quarter.mends_out_of_memory = true;
  CHECK(ranked({half, other, quarter}) == "train_batch_quarter mixed_precision train_batch_half ");
  half.mends_out_of_memory = true;
  CHECK(ranked({half, other, quarter}) == "train_batch_half train_batch_quarter mixed_precision ");
  other.mends_out_of_memory = true;
  CHECK(ranked({half, other, quarter}) == "mixed_precision train_batch_half train_batch_quarter ");
}
