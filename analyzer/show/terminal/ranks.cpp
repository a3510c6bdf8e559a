// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/terminal/parts.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "analyzer/base/text/units.h"

namespace memtrace::terminal {

namespace {

[[nodiscard]] std::size_t hosts_of(const ranks::ranks_found& found) {
  std::set<std::string> hosts;
  for (const auto& row : found.rows) hosts.insert(row.process->run.host);
  return hosts.size();
}

// "2, 5 and 6"; of many the first ones.
[[nodiscard]] std::string listed(const std::vector<std::uint64_t>& numbers) {
  constexpr std::size_t most = 6;
  std::string text;
  for (std::size_t i = 0; i < std::min(numbers.size(), most); ++i) {
    if (i != 0) text += i + 1 == numbers.size() ? " and " : ", ";
    text += std::to_string(numbers[i]);
  }
  if (numbers.size() > most) text += fmt::format(" and {} more", numbers.size() - most);
  return text;
}

[[nodiscard]] std::string peaks_of(const ranks::ranks_found& found) {
  std::uint64_t least = ~std::uint64_t{0};
  std::uint64_t most = 0;
  for (const auto& row : found.rows) {
    if (row.device == nullptr) continue;
    least = std::min(least, row.device->peak_allocated.totals.allocated);
    most = std::max(most, row.device->peak_allocated.totals.allocated);
  }
  if (least > most) return {};
  const auto low = text::format_bytes(least);
  const auto high = text::format_bytes(most);
  return low == high ? fmt::format(", each peaks at {}", high)
                     : fmt::format(", peaks from {} to {}", low, high);
}

[[nodiscard]] std::string heading(const ranks::ranks_found& found) {
  const auto hosts = hosts_of(found);
  const bool named = std::ranges::all_of(
      found.rows, [](const ranks::rank_row& row) { return row.process->run.rank.has_value(); });
  return fmt::format(
      "{} {}{}{}{}{}", found.rows.size(), named ? "ranks" : "processes",
      hosts > 1 ? fmt::format(" on {} hosts", hosts) : std::string(), peaks_of(found),
      found.missing.empty()
          ? std::string()
          : fmt::format("; no trace of rank{} {}", found.missing.size() == 1 ? "" : "s",
                        listed(found.missing)),
      found.played == 0 ? std::string()
                        : fmt::format("; the world's other {} {} played, not run",
                                      text::format_count(found.played),
                                      found.played == 1 ? "rank was" : "ranks were"));
}

[[nodiscard]] std::string shared_line(const ranks::ranks_found& found,
                                      const ranks::shared_row& one) {
  const auto unknown =
      one.pieces_of_unknown == 0
          ? std::string()
          : fmt::format(" ({} of unknown size)", text::format_count(one.pieces_of_unknown));
  return fmt::format("{} uses {} in {} allocation{}{} that {}: counted there only",
                     name_of(found.rows[one.row]), text::format_bytes(one.bytes),
                     text::format_count(one.pieces), one.pieces == 1 ? "" : "s", unknown,
                     one.owner ? name_of(found.rows[*one.owner]) + " shared"
                               : std::string("a process without a trace shared"));
}

void add_wrapped(text::page& out, const std::string& text, std::size_t columns) {
  const auto lines = text::wrap(text, columns - 4);
  for (std::size_t i = 0; i < lines.size(); ++i) out.line((i == 0 ? "  " : "    ") + lines[i]);
}

}  // namespace

void add_ranks(text::page& out, const ranks::ranks_found& found, std::size_t room,
               std::size_t columns) {
  if (found.rows.size() < 2 || room == 0) return;
  out.line(heading(found), text::emphasis::heading);
  if (room == 1) return;
  const auto begin = out.lines();
  std::size_t told = 0;
  for (const auto& one : found.differences) {
    text::page lines;
    add_wrapped(lines, one.sentence, columns);
    const bool last = told + 1 == found.differences.size();
    if (out.lines() - begin + lines.lines() + (last ? 0 : 1) > room - 1) break;
    add_wrapped(out, one.sentence, columns);
    ++told;
  }
  if (told < found.differences.size() && out.lines() - begin < room - 1) {
    out.line(fmt::format("  {} {}difference{} between ranks: memtrace report … --by rank",
                         found.differences.size() - told, told == 0 ? "" : "more ",
                         found.differences.size() - told == 1 ? "" : "s"));
  }
  for (const auto& one : found.shared) {
    if (out.lines() - begin + 1 > room - 1) break;
    out.line("  " + shared_line(found, one));
  }
}

void add_rank_table(text::page& out, const ranks::ranks_found& found, std::size_t columns) {
  if (found.rows.empty()) {
    out.line("No process used a device or said which rank it is");
    return;
  }
  out.line(heading(found), text::emphasis::heading);
  out.line(fmt::format("  {:<9} {:<16} {:<8} {:>11} {:>11} {:>8}  {}", "rank", "host", "device",
                       "allocated", "reserved", "steps", "process"),
           text::emphasis::faint);
  for (const auto& row : found.rows) {
    const auto& run = row.process->run;
    const auto* const device = row.device;
    out.line(fmt::format(
        "  {:<9} {:<16} {:<8} {:>11} {:>11} {:>8}  {}{}{}{}",
        run.rank ? std::to_string(*run.rank) : "-", run.host,
        device == nullptr ? "-" : fmt::format("cuda:{}", device->facts.device),
        device == nullptr ? "-" : text::format_bytes(device->peak_allocated.totals.allocated),
        device == nullptr || !device->reserved() ? "-" : text::format_bytes(*device->reserved()),
        text::format_count(row.steps), run.pid,
        row.attempt == 0 ? "" : fmt::format(", attempt {}", row.attempt + 1),
        row.out_of_memory ? ", ran out of memory" : "",
        row.process->completeness.clean_exit ? "" : ", did not end by itself"));
  }
  for (const auto& one : found.differences) add_wrapped(out, one.sentence, columns);
  for (const auto& one : found.shared) out.line("  " + shared_line(found, one));
}

}  // namespace memtrace::terminal
