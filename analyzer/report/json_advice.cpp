// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/json_advice.h"

#include <fmt/core.h>

#include <cmath>
#include <set>

#include "analyzer/report/causes.h"
#include "analyzer/report/units.h"
#include "analyzer/report/user_lines.h"
#include "analyzer/verdicts/keeper_words.h"
#include "analyzer/verdicts/summary.h"

namespace memtrace::report {

namespace {

using verdicts::subject_kind;

[[nodiscard]] const std::vector<source_frame>& frames_at(const process_report& process,
                                                         trace::stack_id stack) {
  static const std::vector<source_frame> none;
  const auto found = process.verdict_frames.find(stack);
  return found == process.verdict_frames.end() ? none : found->second;
}

[[nodiscard]] std::string evidence_of(const process_report& process, const cause& one) {
  const auto& who = *one.largest;
  auto text =
      fmt::format("{} bytes a step",
                  format_count(static_cast<std::uint64_t>(std::llround(one.bytes_per_step))));
  const auto& frames = frames_at(process, who.stack.value != 0 ? who.stack : who.forward);
  if (!frames.empty()) text += " from " + short_place(frames, {});
  if (one.sites > 1)
    text += fmt::format(" and {} more line{}", one.sites - 1, one.sites == 2 ? "" : "s");
  if (!who.retained_by.empty()) {
    const auto& keeper = who.retained_by.front();
    text += fmt::format("; kept by {}, seen by {} census{}", verdicts::describe(keeper),
                        keeper.censuses, keeper.censuses == 1 ? "" : "es");
  }
  return text;
}

[[nodiscard]] json remedy_json(const process_report& process, const verdicts::remedy& what,
                               const verdicts::verdict& about) {
  return {{"id", what.id},
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
          {"frames", json::array()}};
}

[[nodiscard]] json habit_json(const process_report& process, const verdicts::habit& what) {
  return {{"id", what.id},
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
          {"frames", json::array()}};
}

// Devices and phases tell of the same sites as categories, and each site of itself.
[[nodiscard]] bool is_summed_up_elsewhere(const verdicts::verdict& about) {
  return about.about.kind == subject_kind::category || about.about.kind == subject_kind::site;
}

// What was not told of yet. `told`: sites that have been.
void add_causes(const process_report& process, const verdicts::verdict& about,
                std::set<std::uint32_t>& told, json& advice) {
  for (const auto& one : causes_of(about)) {
    if (!one.largest->fix || told.contains(one.largest->site)) continue;
    auto entry = remedy_json(process, *one.largest->fix, about);
    entry["saves_bytes"] = one.bytes;
    entry["saves_bytes_per_step"] = one.bytes_per_step;
    entry["evidence"] = evidence_of(process, one);
    entry["frames"] = frames_json(frames_at(process, one.largest->stack));
    advice.push_back(std::move(entry));
  }
  for (const auto& who : about.culprits) told.insert(who.site);
}

}  // namespace

void add_advice_json(const process_report& process, json& advice) {
  std::set<std::uint32_t> told;
  for (const bool elsewhere : {false, true}) {
    for (const auto& about : process.findings.verdicts) {
      if (is_summed_up_elsewhere(about) != elsewhere) continue;
      if (about.fix) advice.push_back(remedy_json(process, *about.fix, about));
      add_causes(process, about, told, advice);
    }
  }
  for (const auto& what : process.findings.habits) advice.push_back(habit_json(process, what));
}

}  // namespace memtrace::report
