// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/terminal/parts.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/base/text/units.h"
#include "analyzer/judge/advice/piece.h"
#include "analyzer/run/model/expected.h"
#include "analyzer/run/model/headline.h"
#include "analyzer/trace/code/places.h"

namespace memtrace::terminal {

namespace {

using run::change;

constexpr std::size_t margin = 5;  // of what stands below a heading
constexpr std::size_t most_shown = 3;

[[nodiscard]] std::string bytes_saved(const change& one) {
  const auto most = one.saves_bytes_most.value_or(0);
  auto text = text::format_bytes(one.saves_bytes);
  // By the addresses that the driver gives.
  if (most > one.saves_bytes + one.saves_bytes / 20) text += " to " + text::format_bytes(most);
  return text;
}

// Empty: nothing that can be counted.
[[nodiscard]] std::string amount_saved(const change& one) {
  if (one.saves_bytes > 0) return "saves " + bytes_saved(one);
  if (one.saves_host_bytes) {
    return "saves " + text::format_bytes(*one.saves_host_bytes) + " of host memory";
  }
  if (one.saves_capacity.value_or(0) > 0) {
    return fmt::format("fits in {} less",
                       text::format_bytes(static_cast<std::uint64_t>(*one.saves_capacity)));
  }
  return one.saves_ns ? "saves " + text::format_seconds(*one.saves_ns) : std::string();
}

// saves 3.2 GiB and gets past the request that failed (replayed)
[[nodiscard]] std::string saving(const change& one) {
  const auto what =
      text::join({amount_saved(one),
                  one.mends_out_of_memory ? "gets past the request that failed" : std::string()},
                 " and ");
  const auto how = fmt::format("({}{})", one.free ? "free, " : "", name_of(one.how));
  return what.empty() ? how : what + ' ' + how;
}

void add_wrapped(text::page& out, std::string_view label, const std::string& text, std::size_t most,
                 std::size_t columns) {
  if (text.empty()) return;
  const auto indent = margin + label.size();
  auto lines = text::wrap(text, std::max<std::size_t>(columns, indent + 30) - indent);
  if (lines.size() > most) {
    lines.resize(most);
    if (!lines.empty()) lines.back() = text::cut_at_word(lines.back() + " …", columns - indent);
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    out.line(std::string(margin, ' ') +
             (i == 0 ? std::string(label) : std::string(label.size(), ' ')) + lines[i]);
  }
}

[[nodiscard]] std::string place_of(const change& one) {
  return one.frames.empty() ? std::string() : " [" + code::describe_place(one.frames, {}) + "]";
}

// Remedies and habits are told with what grows.
[[nodiscard]] std::vector<const change*> advice_of(const run::process_report& process) {
  std::vector<const change*> found;
  for (const auto& one : process.changes) {
    if (one.from == run::change_from::advice) found.push_back(&one);
  }
  return found;
}

[[nodiscard]] std::vector<const change*> pending(const run::process_report& process,
                                                 std::vector<const change*> all) {
  std::erase_if(all, [&](const change* one) {
    const bool is_of_room = one->device && run::has_room(process, *one->device) && !one->saves_ns &&
                            !one->saves_host_bytes;
    return one->superseded || one->takes_place_of_habit || is_of_room;
  });
  return all;
}

// Where less than half of a GPU is in use there is nothing to save, and something to use. Empty: more is
// in use, or it grows.
[[nodiscard]] std::string room_words(const run::process_report& process) {
  if (process.answer.what == run::standing::leaks) return {};
  for (const auto& device : process.devices) {
    if (!run::has_room(process, device.facts.device)) continue;
    const auto room = run::room_of(process, device);
    if (room && room->batch_factor && *room->batch_factor >= 2) {
      return fmt::format("Room for a batch about {} times as large, up to 85 % of GPU {}",
                         text::format_count(static_cast<std::uint64_t>(*room->batch_factor)),
                         device.facts.device);
    }
    return fmt::format(
        "Less than half of GPU {} was in use: nothing has to be saved (what could be: --by advice)",
        device.facts.device);
  }
  return {};
}

// A change that trains otherwise (another optimizer, shorter sequences) is never part of it, so
// that a single piece may save more. A run that ended when memory ran out had not needed all yet.
[[nodiscard]] std::string together(const run::process_report& process,
                                   const advice::combination& all) {
  std::string names;
  for (std::size_t i = 0; i < all.ids.size(); ++i) {
    names += (i == 0 ? "" : i + 1 == all.ids.size() ? " and " : ", ");
    names += advice::brief_words(all.ids[i]);
  }
  return fmt::format(
      "Together, with the training as it is, these save {} and leave {}{} ({}): {}",
      text::format_bytes(static_cast<std::uint64_t>(std::max<std::int64_t>(0, all.saves_bytes))),
      text::format_bytes(all.peak_reserved),
      process.answer.what == run::standing::out_of_memory ? " at the request that failed" : "",
      name_of(all.how), names);
}

// Null: there is none, or nothing has to be saved there.
[[nodiscard]] const advice::combination* together_of(const run::process_report& process) {
  const auto& all = process.advice.combined;
  return all.empty() || run::has_room(process, all.front().device) ? nullptr : &all.front();
}

// Checkpointing: saves 3.2 GiB (estimated)
[[nodiscard]] std::string heading_of(const change& one) {
  auto name = advice::brief_words(one.id);
  // A name (empty_cache()) keeps its first letter.
  const auto first = name.substr(0, name.find(' '));
  if (first.find_first_of("_(") == first.npos) {
    name.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(name.front())));
  }
  return fmt::format("{}: {}", name, saving(one));
}

[[nodiscard]] std::vector<std::string> lines_of(const std::string& text, std::size_t columns) {
  return text::wrap(text, std::max<std::size_t>(columns, margin + 30) - margin);
}

// The first few: the free ones, but for a place for the best of those that cost something.
[[nodiscard]] std::vector<const change*> first_few(const std::vector<const change*>& all,
                                                   std::size_t most) {
  std::vector<const change*> chosen(
      all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(most, all.size())));
  const auto costs = [](const change* one) { return !one->free; };
  const auto best = std::ranges::find_if(all, costs);
  if (most > 1 && best != all.end() && std::ranges::none_of(chosen, costs)) chosen.back() = *best;
  return chosen;
}

// A piece with its heading, wrapped.
[[nodiscard]] std::vector<std::string> piece_lines(const change& one, std::size_t number,
                                                   std::size_t columns) {
  std::vector<std::string> lines;
  for (const auto& part : lines_of(heading_of(one), columns)) {
    lines.push_back((lines.empty() ? fmt::format("  {}. ", number) : std::string(margin, ' ')) +
                    part);
  }
  if (one.what.empty()) return lines;
  for (const auto& part : lines_of(one.what, columns)) {
    lines.push_back(std::string(margin, ' ') + part);
  }
  return lines;
}

[[nodiscard]] std::vector<std::string> together_lines(const run::process_report& process,
                                                      std::size_t columns) {
  const auto* const all = together_of(process);
  return all == nullptr ? std::vector<std::string>() : lines_of(together(process, *all), columns);
}

[[nodiscard]] std::string advice_heading(const run::process_report& process, std::size_t shown,
                                         std::size_t all) {
  const auto few =
      shown < all ? fmt::format(" ({} of {}; all: --by advice)", shown, all) : std::string();
  const auto* const oom = run::decisive_oom(process);
  const bool ran_out = process.answer.what == run::standing::out_of_memory;
  if (ran_out && oom != nullptr && run::grows_on(process, oom->facts.device)) {
    return fmt::format("What else helps, some of it for a while only{}:", few);
  }
  return ran_out
             ? fmt::format("What to change{}: what is free first, then what keeps the results", few)
             : fmt::format("What to change{}: what is free first, each by what it saves", few);
}

// As many of the first few, whole, as `room` lines hold; where it does not hold one, part of it.
[[nodiscard]] std::vector<std::vector<std::string>> pieces_that_fit(
    const std::vector<const change*>& waiting, std::size_t room, std::size_t columns) {
  for (auto most = most_shown;; --most) {
    std::vector<std::vector<std::string>> pieces;
    std::size_t lines = 0;
    for (const auto* one : first_few(waiting, most)) {
      pieces.push_back(piece_lines(*one, pieces.size() + 1, columns));
      lines += pieces.back().size();
    }
    if (lines <= room) return pieces;
    if (most > 1) continue;
    pieces.front().resize(room);
    pieces.front().back() = text::cut_at_word(pieces.front().back() + " …", columns);
    return pieces;
  }
}

}  // namespace

std::size_t advice_lines(const run::process_report& process, std::size_t columns) {
  const auto first = first_few(pending(process, advice_of(process)), most_shown);
  const std::size_t for_room = room_words(process).empty() ? 0 : 1;
  if (first.empty()) return for_room;
  std::size_t lines = 1 + for_room;
  for (const auto* one : first) lines += piece_lines(*one, 1, columns).size();
  return lines + together_lines(process, columns).size();
}

void add_advice(text::page& out, const run::process_report& process, std::size_t room,
                std::size_t columns) {
  const auto all = advice_of(process);
  const auto waiting = pending(process, all);
  if (const auto words = room_words(process); !words.empty() && room > 0) {
    out.line(words);
    --room;
  }
  if (waiting.empty() || room < 3) return;
  const auto last = out.lines() + room;
  const auto pieces = pieces_that_fit(waiting, room - 1, columns);
  out.line(advice_heading(process, pieces.size(), all.size()), text::emphasis::heading);
  for (const auto& lines : pieces) {
    for (const auto& line : lines) out.line(line);
  }
  const auto combined = together_lines(process, columns);
  if (out.lines() + combined.size() > last) return;
  for (std::size_t i = 0; i < combined.size(); ++i) {
    out.line((i == 0 ? "  " : "     ") + combined[i]);
  }
}

void add_advice_in_full(text::page& out, const run::process_report& process, std::size_t columns) {
  const auto& found = process.advice;
  constexpr std::size_t all_lines = 12;
  const auto changes = advice_of(process);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const auto& one = *changes[i];
    const auto device = one.device ? fmt::format("GPU {}: ", *one.device) : std::string();
    out.line(fmt::format("{}. {} — {}{}", i + 1, one.id, device, saving(one)),
             text::emphasis::heading);
    add_wrapped(out, "what:     ", one.title + place_of(one), all_lines, columns);
    add_wrapped(out, "change:   ", one.what, all_lines, columns);
    add_wrapped(out, "evidence: ", one.evidence, all_lines, columns);
    add_wrapped(out, "source:   ", one.source, all_lines, columns);
    add_wrapped(out, "cost:     ", one.cost, all_lines, columns);
    add_wrapped(out, "not when: ", one.not_when, all_lines, columns);
  }
  for (const auto& all : found.combined) {
    for (const auto& line : text::wrap(together(process, all), columns)) out.line(line);
  }
  for (const auto& limit : found.limits) out.line(limit, text::emphasis::faint);
  if (changes.empty() && found.limits.empty()) {
    out.line("  nothing that was tried saves memory");
  }
}

}  // namespace memtrace::terminal
