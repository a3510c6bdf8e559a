// SPDX-License-Identifier: Apache-2.0
#include "analyzer/terminal/advice.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/code/places.h"
#include "analyzer/text/units.h"
#include "analyzer/text/utf8.h"

namespace memtrace::terminal {

namespace {

using advice::piece;

constexpr std::size_t most_shown = 3;

[[nodiscard]] std::string bytes_saved(const piece& one) {
  const auto least = static_cast<std::uint64_t>(std::max<std::int64_t>(0, one.saves_bytes));
  const auto most = static_cast<std::uint64_t>(std::max<std::int64_t>(0, one.saves_bytes_most));
  auto text = text::format_bytes(least);
  // By the addresses that the driver gives.
  if (most > least + least / 20) text += " to " + text::format_bytes(most);
  return text;
}

// saves 3.20 GiB (replayed)
[[nodiscard]] std::string saving(const piece& one) {
  const auto how = fmt::format(" ({})", name_of(one.what.how));
  std::string text;
  if (one.mends_out_of_memory) text = "gets past the request that failed; ";
  if (one.saves_bytes > 0) return text + "saves " + bytes_saved(one) + how;
  if (one.what.saves_host_bytes) {
    return text + "saves " + text::format_bytes(*one.what.saves_host_bytes) + " of host memory" +
           how;
  }
  if (one.saves_capacity.value_or(0) > 0) {
    return text + fmt::format("fits in {} less{}",
                              text::format_bytes(static_cast<std::uint64_t>(*one.saves_capacity)),
                              how);
  }
  if (one.what.saves_ns) return text + "saves " + text::format_seconds(*one.what.saves_ns) + how;
  return text.empty() ? std::string(name_of(one.what.how)) : text.substr(0, text.size() - 2) + how;
}

void add_wrapped(text::page& out, std::string_view label, const std::string& text, std::size_t most,
                 std::size_t columns) {
  if (text.empty()) return;
  constexpr std::size_t margin = 5;
  const auto indent = margin + label.size();
  auto lines = text::wrap(text, std::max<std::size_t>(columns, indent + 30) - indent);
  if (lines.size() > most) {
    lines.resize(most);
    if (!lines.empty()) lines.back() += " …";
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    out.line(text::printable(std::string(margin, ' ') +
                             (i == 0 ? std::string(label) : std::string(label.size(), ' ')) +
                             lines[i]));
  }
}

[[nodiscard]] std::string place_of(const run::process_report& process, const piece& one) {
  const auto found = process.verdict_frames.find(one.what.stack);
  if (!one.what.stack || found == process.verdict_frames.end() || found->second.empty()) return {};
  return " [" + code::describe_place(found->second, {}) + "]";
}

// Those that the section on growth and habits has not told; of a group, of which only one can be
// followed, the first.
[[nodiscard]] std::vector<const piece*> untold(const run::process_report& process) {
  const bool habit_told = !process.findings.habits.empty();
  std::set<std::string_view> groups;
  std::vector<const piece*> pieces;
  for (const auto& one : process.advice.pieces) {
    if (habit_told && one.what.id == "remove_empty_cache") continue;
    if (one.what.group.empty() || groups.insert(one.what.group).second) pieces.push_back(&one);
  }
  return pieces;
}

[[nodiscard]] std::string together(const advice::combination& all) {
  std::string names;
  for (const auto& id : all.ids) names += (names.empty() ? "" : " + ") + id;
  return fmt::format(
      "{}: together {}, {} left ({})", names,
      text::format_bytes(static_cast<std::uint64_t>(std::max<std::int64_t>(0, all.saves_bytes))),
      text::format_bytes(all.peak_reserved), name_of(all.how));
}

}  // namespace

std::size_t advice_lines(const run::process_report& process) {
  const auto pieces = untold(process).size();
  if (pieces == 0) return 0;
  return 1 + 2 * std::min(pieces, most_shown) + (process.advice.combined.empty() ? 0 : 1);
}

void add_advice(text::page& out, const run::process_report& process, std::size_t room,
                std::size_t columns) {
  const auto& found = process.advice;
  const auto pieces = untold(process);
  if (pieces.empty() || room < 3) return;
  const auto last = out.lines() + room;
  const bool combined = !found.combined.empty() && room >= 6;
  const auto shown = std::min({pieces.size(), most_shown, (room - 1 - (combined ? 1 : 0)) / 2});
  out.line(fmt::format("What to change{}, by what it saves of the memory that is reserved",
                       shown < found.pieces.size() ? fmt::format(" ({} of {}; all: --by advice)",
                                                                 shown, found.pieces.size())
                                                   : std::string()),
           text::emphasis::heading);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& one = *pieces[i];
    out.line(
        text::printable(text::cut(fmt::format("  {}. {}: {}", i + 1, saving(one), one.what.title),
                                  std::max<std::size_t>(columns, 40))));
    const auto left = last - out.lines() - 2 * (shown - i - 1) - (combined ? 1 : 0);
    add_wrapped(out, "", one.what.change, std::min<std::size_t>(left, 1), columns);
  }
  if (combined) out.line(text::printable("  " + together(found.combined.front())));
}

void add_advice_in_full(text::page& out, const run::process_report& process, std::size_t columns) {
  const auto& found = process.advice;
  constexpr std::size_t all_lines = 12;
  for (std::size_t i = 0; i < found.pieces.size(); ++i) {
    const auto& one = found.pieces[i];
    const auto device = one.what.device ? fmt::format("GPU {}: ", *one.what.device) : std::string();
    out.line(text::printable(fmt::format("{}. {} — {}{}", i + 1, one.what.id, device, saving(one))),
             text::emphasis::heading);
    add_wrapped(out, "what:     ", one.what.title + place_of(process, one), all_lines, columns);
    add_wrapped(out, "change:   ", one.what.change, all_lines, columns);
    add_wrapped(out, "evidence: ", one.what.evidence, all_lines, columns);
    add_wrapped(out, "source:   ", one.what.source, all_lines, columns);
    add_wrapped(out, "cost:     ", one.what.cost, all_lines, columns);
    add_wrapped(out, "not when: ", one.what.not_when, all_lines, columns);
  }
  for (const auto& all : found.combined) out.line(text::printable(together(all)));
  for (const auto& limit : found.limits) out.line(text::printable(limit), text::emphasis::faint);
  if (found.pieces.empty() && found.limits.empty()) {
    out.line("  nothing that was tried saves memory");
  }
}

}  // namespace memtrace::terminal
