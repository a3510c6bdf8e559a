// SPDX-License-Identifier: Apache-2.0
#include "analyzer/json/advice.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "analyzer/code/places.h"
#include "analyzer/run/causes.h"
#include "analyzer/text/units.h"
#include "analyzer/verdicts/keeper_words.h"
#include "analyzer/verdicts/summary.h"

namespace memtrace::as_json {

namespace {

using verdicts::subject_kind;

[[nodiscard]] const std::vector<code::source_frame>& frames_at(const run::process_report& process,
                                                               trace::stack_id stack) {
  static const std::vector<code::source_frame> none;
  const auto found = process.verdict_frames.find(stack);
  return found == process.verdict_frames.end() ? none : found->second;
}

[[nodiscard]] std::string evidence_of(const run::process_report& process, const run::cause& one) {
  const auto& who = *one.largest;
  auto text =
      fmt::format("{} bytes a step",
                  text::format_count(static_cast<std::uint64_t>(std::llround(one.bytes_per_step))));
  const auto& frames = frames_at(process, who.stack.value != 0 ? who.stack : who.forward);
  if (!frames.empty()) text += " from " + code::short_place(frames, {});
  if (one.sites > 1)
    text += fmt::format(" and {} more line{}", one.sites - 1, one.sites == 2 ? "" : "s");
  if (!who.retained_by.empty()) {
    const auto& keeper = who.retained_by.front();
    text += fmt::format("; kept by {}, seen by {} census{}", verdicts::describe(keeper),
                        keeper.censuses, keeper.censuses == 1 ? "" : "es");
  }
  return text;
}

// What only some kinds of advice have.
[[nodiscard]] json nothing_more() {
  return {{"amount", ""},
          {"source", nullptr},
          {"cost", nullptr},
          {"not_when", nullptr},
          {"group", nullptr},
          {"device", nullptr},
          {"saves_bytes_most", nullptr},
          {"saves_allocated_bytes", nullptr},
          {"saves_capacity_bytes", nullptr},
          {"saves_host_bytes", nullptr},
          {"retries_before", nullptr},
          {"retries_after", nullptr},
          {"mends_out_of_memory", false}};
}

[[nodiscard]] json with_nothing_more(json entry) {
  entry.update(nothing_more());
  return entry;
}

[[nodiscard]] json remedy_json(const run::process_report& process, const verdicts::remedy& what,
                               const verdicts::verdict& about) {
  return with_nothing_more({{"id", what.id},
                            {"title", what.cause},
                            {"saves_bytes", 0},
                            {"saves_bytes_per_step", what.saves_bytes_per_step},
                            {"saves_ns", nullptr},
                            {"proof", "measured"},
                            {"evidence", about.summary},
                            {"change", what.change},
                            {"caution", text_or_null(what.caution)},
                            {"subject", verdicts::name_of(about.about)},
                            {"pid", process.run.pid},
                            {"frames", json::array()}});
}

[[nodiscard]] json habit_json(const run::process_report& process, const verdicts::habit& what) {
  return with_nothing_more({{"id", what.id},
                            {"title", what.title},
                            {"saves_bytes", 0},
                            {"saves_bytes_per_step", 0},
                            {"saves_ns", what.nanoseconds},
                            {"proof", "measured"},
                            {"evidence", what.evidence},
                            {"change", what.change},
                            {"caution", nullptr},
                            {"subject", nullptr},
                            {"pid", process.run.pid},
                            {"frames", json::array()}});
}

[[nodiscard]] json piece_json(const run::process_report& process, const advice::piece& one) {
  const auto& what = one.what;
  const bool replayed = one.replayed;
  return {{"id", what.id},
          {"title", what.title},
          {"amount", what.amount},
          {"saves_bytes", std::max<std::int64_t>(0, one.saves_bytes)},
          {"saves_bytes_per_step", 0},
          {"saves_ns", or_null(what.saves_ns)},
          {"saves_bytes_most", std::max<std::int64_t>(0, one.saves_bytes_most)},
          {"saves_allocated_bytes", replayed ? json(one.saves_allocated) : json()},
          {"saves_capacity_bytes", or_null(one.saves_capacity)},
          {"saves_host_bytes", or_null(what.saves_host_bytes)},
          {"retries_before", replayed ? json(one.retries_before) : json()},
          {"retries_after", replayed ? json(one.retries_after) : json()},
          {"mends_out_of_memory", one.mends_out_of_memory},
          {"proof", name_of(what.how)},
          {"evidence", what.evidence},
          {"change", what.change},
          {"source", text_or_null(what.source)},
          {"cost", text_or_null(what.cost)},
          {"not_when", text_or_null(what.not_when)},
          {"group", text_or_null(what.group)},
          {"caution", nullptr},
          {"subject", nullptr},
          {"device", or_null(what.device)},
          {"pid", process.run.pid},
          {"frames", frames_json(frames_at(process, what.stack))}};
}

// An entry and where it stands.
struct placed {
  bool mends = false;  // what memory ran out for
  std::int64_t bytes = 0;
  json entry;
};

// Ranked pieces keep their order among themselves: one of about as many bytes may come before one
// of a few more.
void add_pieces(const run::process_report& process, std::vector<placed>& all) {
  const auto& pieces = process.advice.pieces;
  const auto first = all.size();
  for (const auto& one : pieces) {
    all.push_back({one.mends_out_of_memory, std::max<std::int64_t>(0, one.saves_bytes),
                   piece_json(process, one)});
  }
  for (std::size_t i = all.size(); i-- > first + 1;) {
    if (all[i].mends == all[i - 1].mends)
      all[i - 1].bytes = std::max(all[i - 1].bytes, all[i].bytes);
  }
}

// Devices and phases tell of the same sites as categories, and each site of itself.
[[nodiscard]] bool is_summed_up_elsewhere(const verdicts::verdict& about) {
  return about.about.kind == subject_kind::category || about.about.kind == subject_kind::site;
}

// What grows is what it ran out for.
[[nodiscard]] bool ran_out(const run::process_report& process, const verdicts::verdict& about) {
  if (about.about.kind == subject_kind::host) return false;
  return std::any_of(process.ooms.begin(), process.ooms.end(), [&](const run::oom_report& oom) {
    return oom.facts.device == about.about.device && !oom.facts.caught;
  });
}

// What was not told of yet. `told`: sites that have been.
void add_causes(const run::process_report& process, const verdicts::verdict& about,
                std::set<std::uint32_t>& told, std::vector<placed>& advice) {
  for (const auto& one : run::causes_of(about)) {
    if (!one.largest->fix || told.contains(one.largest->site)) continue;
    auto entry = remedy_json(process, *one.largest->fix, about);
    entry["saves_bytes"] = one.bytes;
    entry["saves_bytes_per_step"] = one.bytes_per_step;
    entry["evidence"] = evidence_of(process, one);
    entry["frames"] = frames_json(frames_at(process, one.largest->stack));
    advice.push_back(
        {ran_out(process, about), static_cast<std::int64_t>(one.bytes), std::move(entry)});
  }
  for (const auto& who : about.culprits) told.insert(who.site);
}

void add_remedies(const run::process_report& process, std::vector<placed>& advice) {
  std::set<std::uint32_t> told;
  for (const bool elsewhere : {false, true}) {
    for (const auto& about : process.findings.verdicts) {
      if (is_summed_up_elsewhere(about) != elsewhere) continue;
      if (about.fix) {
        advice.push_back({ran_out(process, about), 0, remedy_json(process, *about.fix, about)});
      }
      add_causes(process, about, told, advice);
    }
  }
}

// Of empty_cache a replay may have said more.
void add_habits(const run::process_report& process, std::vector<placed>& advice) {
  const bool replayed =
      std::any_of(process.advice.pieces.begin(), process.advice.pieces.end(),
                  [](const advice::piece& one) { return one.what.id == "remove_empty_cache"; });
  if (replayed) return;
  for (const auto& what : process.findings.habits) {
    advice.push_back({false, 0, habit_json(process, what)});
  }
}

}  // namespace

json advice_json(const run::run_report& processes) {
  std::vector<placed> all;
  for (const auto& process : processes) {
    add_pieces(process, all);
    add_remedies(process, all);
    add_habits(process, all);
  }
  std::stable_sort(all.begin(), all.end(), [](const placed& left, const placed& right) {
    return std::pair(left.mends, left.bytes) > std::pair(right.mends, right.bytes);
  });
  auto advice = json::array();
  for (auto& one : all) {
    one.entry["rank"] = advice.size() + 1;
    advice.push_back(std::move(one.entry));
  }
  return advice;
}

json combined_advice_json(const run::run_report& processes) {
  auto all = json::array();
  for (const auto& process : processes) {
    for (const auto& one : process.advice.combined) {
      all.push_back({{"pid", process.run.pid},
                     {"device", one.device},
                     {"ids", one.ids},
                     {"saves_bytes", one.saves_bytes},
                     {"peak_reserved_bytes", one.peak_reserved},
                     {"proof", name_of(one.how)}});
    }
  }
  return all;
}

json advice_limits_json(const run::run_report& processes) {
  auto all = json::array();
  for (const auto& process : processes) {
    for (const auto& one : process.advice.limits) {
      all.push_back({{"pid", process.run.pid}, {"text", one}});
    }
  }
  return all;
}

}  // namespace memtrace::as_json
