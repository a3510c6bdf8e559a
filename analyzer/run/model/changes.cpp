// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/model/changes.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "analyzer/base/text/units.h"
#include "analyzer/judge/verdicts/retainer_words.h"
#include "analyzer/judge/verdicts/verdict.h"
#include "analyzer/run/model/causes.h"
#include "analyzer/trace/code/places.h"

namespace memtrace::run {

namespace {

using verdicts::subject_kind;

[[nodiscard]] std::uint64_t at_least_none(std::int64_t bytes) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, bytes));
}

[[nodiscard]] change change_by(const process_report& process, const advice::piece& one) {
  const auto& what = one.what;
  change made;
  made.from = change_from::advice;
  made.id = what.id;
  made.title = what.title;
  made.amount = what.amount;
  made.what = what.change;
  made.evidence = what.evidence;
  made.about = what.about;
  made.source = what.source;
  made.cost = what.cost;
  made.not_when = what.not_when;
  made.group = what.group;
  made.device = what.device;
  made.frames = frames_at(process, what.stack);
  made.how = what.how;
  made.saves_bytes = at_least_none(one.saves_bytes);
  made.saves_bytes_most = at_least_none(one.saves_bytes_most);
  if (one.replayed) {
    made.saves_allocated = one.saves_allocated;
    made.retries_before = one.retries_before;
    made.retries_after = one.retries_after;
  }
  made.saves_capacity = one.saves_capacity;
  made.saves_host_bytes = what.saves_host_bytes;
  made.saves_ns = what.saves_ns;
  made.mends_out_of_memory = one.mends_out_of_memory;
  made.gets_past_request = one.gets_past_request;
  made.is_settled = one.is_settled;
  made.free = what.free;
  made.takes_place_of_habit = !what.tells_of.empty();
  made.stands_first = one.mends_out_of_memory;
  made.stands_at = made.saves_bytes;
  return made;
}

// Ranked pieces keep their order among themselves: one of about as many bytes may come before one
// of a few more.
void add_pieces(const process_report& process, std::vector<change>& all) {
  for (const auto& one : process.advice.pieces) all.push_back(change_by(process, one));
  std::map<std::pair<bool, bool>, std::uint64_t> most_behind;
  for (auto one = all.rbegin(); one != all.rend(); ++one) {
    auto& most = most_behind[{one->stands_first, one->free}];
    one->stands_at = most = std::max(most, one->stands_at);
  }
}

// The program ran out of memory for what grows.
[[nodiscard]] bool ran_out_for(const process_report& process, const verdicts::verdict& about) {
  return about.about.kind != subject_kind::host && ran_out(process, about.about.device);
}

[[nodiscard]] change change_by(const process_report& process, const verdicts::remedy& what,
                               const verdicts::verdict& about) {
  change made;
  made.from = change_from::remedy;
  made.free = true;
  made.id = what.id;
  made.title = what.cause;
  made.what = what.change;
  made.evidence = about.summary;
  made.caution = what.caution;
  made.subject = verdicts::name_of(about.about);
  made.saves_bytes_per_step = what.saves_bytes_per_step;
  made.stands_first = ran_out_for(process, about);
  return made;
}

[[nodiscard]] std::string evidence_of(const process_report& process, const cause& one) {
  const auto& who = *one.largest;
  auto text =
      fmt::format("{} bytes a step",
                  text::format_count(static_cast<std::uint64_t>(std::llround(one.bytes_per_step))));
  const auto& frames = frames_at(process, who.stack ? who.stack : who.forward);
  if (!frames.empty()) text += " from " + code::short_place(frames, {});
  if (one.sites > 1)
    text += fmt::format(" and {} more line{}", one.sites - 1, one.sites == 2 ? "" : "s");
  if (!who.retained_by.empty()) {
    const auto& held_by = who.retained_by.front();
    text += fmt::format("; kept by {}, seen by {} census{}", verdicts::describe(held_by),
                        held_by.heap_scans, held_by.heap_scans == 1 ? "" : "es");
  }
  return text;
}

// Adds the causes that were not reported yet. `told`: sites that have been.
void add_causes(const process_report& process, const verdicts::verdict& about,
                std::set<std::uint32_t>& told, std::vector<change>& all) {
  for (const auto& one : causes_of(about)) {
    if (!one.largest->fix || told.contains(one.largest->site)) continue;
    auto& made = all.emplace_back(change_by(process, *one.largest->fix, about));
    made.saves_bytes = one.bytes;
    made.saves_bytes_per_step = one.bytes_per_step;
    made.evidence = evidence_of(process, one);
    made.frames = frames_at(process, one.largest->stack);
    made.stands_at = one.bytes;
  }
  for (const auto& who : about.suspects) told.insert(who.site);
}

// Devices and phases tell of the same sites as categories, and each site of itself.
[[nodiscard]] bool is_summed_up_elsewhere(const verdicts::verdict& about) {
  return about.about.kind == subject_kind::category || about.about.kind == subject_kind::site;
}

void add_remedies(const process_report& process, std::vector<change>& all) {
  std::set<std::uint32_t> told;
  for (const bool elsewhere : {false, true}) {
    for (const auto& about : process.findings.verdicts) {
      if (is_summed_up_elsewhere(about) != elsewhere) continue;
      if (about.fix) all.push_back(change_by(process, *about.fix, about));
      add_causes(process, about, told, all);
    }
  }
}

[[nodiscard]] change change_by(const verdicts::habit& what) {
  change made;
  made.from = change_from::habit;
  made.free = true;
  made.id = what.id;
  made.title = what.title;
  made.what = what.change;
  made.evidence = what.evidence;
  made.saves_ns = what.nanoseconds;
  return made;
}

// A piece that tells of a habit by replay takes its place.
void add_habits(const process_report& process, std::vector<change>& all) {
  const auto& pieces = process.advice.pieces;
  for (const auto& what : process.findings.habits) {
    const bool told = std::ranges::any_of(
        pieces, [&](const advice::piece& one) { return one.what.tells_of == what.id; });
    if (!told) all.push_back(change_by(what));
  }
}

[[nodiscard]] bool is_before(const change& left, const change& right) {
  return std::tuple(left.stands_first, left.free, left.stands_at) >
         std::tuple(right.stands_first, right.free, right.stands_at);
}

// Of a group only the first can be followed. A piece that is reported as a habit leaves its group to
// the next.
void mark_superseded(std::vector<change>& all) {
  std::set<std::string_view> groups;
  for (auto& one : all) {
    if (one.group.empty() || one.takes_place_of_habit) continue;
    one.superseded = !groups.insert(one.group).second;
  }
}

}  // namespace

std::vector<change> changes_of(const process_report& process) {
  std::vector<change> all;
  add_pieces(process, all);
  add_remedies(process, all);
  add_habits(process, all);
  for (auto& one : all) one.pid = process.run.pid;
  std::ranges::stable_sort(all, is_before);
  mark_superseded(all);
  return all;
}

std::vector<const change*> ranked(const run_report& processes) {
  std::vector<const change*> all;
  for (const auto& process : processes) {
    for (const auto& one : process.changes) all.push_back(&one);
  }
  std::ranges::stable_sort(
      all, [](const change* left, const change* right) { return is_before(*left, *right); });
  return all;
}

}  // namespace memtrace::run
