// SPDX-License-Identifier: Apache-2.0
//
// The report's sentences: what to change, and where memory ran out, made by hand.
#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/judge/advice/piece.h"
#include "analyzer/run/model/changes.h"
#include "analyzer/show/terminal/parts.h"
#include "tests/unit/catch.h"

using namespace memtrace;

namespace {

constexpr std::int64_t gibibyte = 1ll << 30;

[[nodiscard]] advice::piece saving(std::string id, std::string change, std::int64_t bytes) {
  advice::piece made;
  made.what.id = std::move(id);
  made.what.change = std::move(change);
  made.saves_bytes = bytes;
  made.saves_bytes_most = bytes;
  return made;
}

[[nodiscard]] run::process_report advised() {
  run::process_report made;
  made.advice.pieces = {
      saving("train_batch_quarter",
             "batch size divided by 4; (loss / 4).backward() for each of 4 micro-batches, then "
             "optimizer.step() and optimizer.zero_grad() once",
             3 * gibibyte),
      saving("zero_grad_placement", "call optimizer.zero_grad() right after optimizer.step()",
             gibibyte)};
  made.advice.pieces.back().what.free = true;
  advice::combination all;
  all.ids = {"train_batch_quarter", "zero_grad_placement", "an_id_of_tomorrow"};
  all.saves_bytes = 4 * gibibyte;
  made.advice.combined = {all};
  made.changes = run::changes_of(made);
  return made;
}

[[nodiscard]] std::string told(const run::process_report& process, std::size_t room,
                               std::size_t columns) {
  text::page out;
  terminal::add_advice(out, process, room, columns);
  return out.render(false, 0);
}

[[nodiscard]] bool has(const std::string& text, std::string_view part) {
  return text.find(part) != text.npos;
}

[[nodiscard]] std::string without_breaks(std::string text) {
  for (auto at = text.find("\n     "); at != text.npos; at = text.find("\n     ")) {
    text.replace(at, 6, " ");
  }
  return text;
}

}  // namespace

TEST_CASE("GIVEN advice WHEN told THEN there are words where the JSON has ids") {
  const auto text = told(advised(), 36, 200);  // so wide that nothing is cut
  CHECK_FALSE(has(text, "train_batch_quarter"));
  CHECK_FALSE(has(text, "zero_grad_placement"));
  CHECK_FALSE(has(text, "an_id_of_tomorrow"));
  CHECK(has(text, "an id of tomorrow"));
  CHECK(has(text, "4 GiB"));
  REQUIRE(advice::has_brief_words("train_batch_quarter"));
  CHECK(has(without_breaks(text), advice::brief_words("train_batch_quarter") + ", "));
}

TEST_CASE("GIVEN room WHEN advice is told THEN nothing of a change is left out") {
  const auto process = advised();
  for (const std::size_t columns : {80, 96, 200}) {
    CAPTURE(columns);
    const auto wanted = terminal::advice_lines(process, columns);
    const auto text = told(process, wanted, columns);
    CHECK(static_cast<std::size_t>(std::ranges::count(text, '\n')) <= wanted);
    for (const auto& one : process.advice.pieces) {
      CHECK(has(without_breaks(text), one.what.change));
    }
  }
}

TEST_CASE("GIVEN little room WHEN advice is told THEN it keeps to it") {
  const auto process = advised();
  for (std::size_t room = 3; room < terminal::advice_lines(process, 80); ++room) {
    CAPTURE(room);
    const auto text = told(process, room, 80);
    CHECK(static_cast<std::size_t>(std::ranges::count(text, '\n')) <= room);
    CHECK(has(text, "1. `zero_grad()` right after the step"));
  }
}

TEST_CASE("GIVEN less than half of a GPU in use THEN there is room, and nothing to save") {
  auto process = advised();
  auto& device = process.devices.emplace_back();
  device.facts.total_bytes = 16 * gibibyte;
  device.peak_reserved.totals.reserved = 7 * gibibyte;
  for (auto& one : process.advice.pieces) one.what.device = 0;
  process.changes = run::changes_of(process);
  const auto text = told(process, 36, 200);
  CHECK(has(text, "Less than half of GPU 0 was in use"));
  CHECK_FALSE(has(text, "What to change"));
  // What saves time is told, and so is all where more is in use.
  process.changes.front().saves_ns = 1'000'000'000;
  CHECK(has(told(process, 36, 200), "What to change"));
  process.changes.front().saves_ns.reset();
  process.devices.front().peak_reserved.totals.reserved = 9 * gibibyte;
  CHECK(has(told(process, 36, 200), "What to change"));
}

TEST_CASE("GIVEN memory that ran out in backward THEN the forward line is told") {
  run::process_report process;
  auto& oom = process.ooms.emplace_back();
  oom.thread = "pt_autograd_0";
  oom.forward = {{"/srv/model.py", 31, "forward", true}};
  text::page out;
  terminal::add_oom(out, process, oom, text::usual_columns);
  CHECK(has(out.render(false, 0), "in the backward of model.py:31 forward"));
}
