// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/check/findings.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string>

#include "analyzer/base/text/units.h"
#include "analyzer/judge/verdicts/retainer_words.h"
#include "analyzer/trace/code/moved_lines.h"
#include "analyzer/trace/code/places.h"

namespace memtrace::check {

namespace {

[[nodiscard]] const code::source_frame* user_frame(const std::vector<code::source_frame>& own,
                                                   const std::vector<code::source_frame>& forward) {
  if (const auto* const found = code::innermost_user(forward)) return found;
  return code::innermost_user(own);
}

// By "train.py:31 forward".
[[nodiscard]] std::map<std::string, blamed_line> lines_of(const run::memory_view& view) {
  std::map<std::string, blamed_line> lines;
  for (const auto& site : view.sites) {
    const auto* const frame = user_frame(site.frames, site.forward);
    if (frame == nullptr) continue;
    auto& line = lines[code::place_of(*frame, 1)];
    line.where = *frame;
    line.bytes += site.bytes;
  }
  return lines;
}

[[nodiscard]] std::string kept_by(const verdicts::verdict& leak) {
  for (const auto& one : leak.suspects) {
    if (!one.retained_by.empty()) return verdicts::describe(one.retained_by.front());
  }
  return {};
}

[[nodiscard]] std::string line_in_words(const finding& one, const std::string& place) {
  const auto& line = *one.line;
  if (one.leak != nullptr) return "asked for at " + place;
  const auto bytes = bytes_in_words(line.bytes);
  if (one.sizes && one.sizes->baseline) return fmt::format("{} more at {}", bytes, place);
  return fmt::format("the largest line is {} with {}", place, bytes);
}

}  // namespace

std::optional<blamed_line> largest_line(const run::memory_view& view) {
  std::optional<blamed_line> largest;
  for (const auto& [name, line] : lines_of(view)) {
    if (!largest || line.bytes > largest->bytes) largest = line;
  }
  return largest;
}

std::optional<blamed_line> most_grown_line(const run::memory_view& before,
                                           const run::memory_view& after) {
  const auto old_lines = lines_of(before);
  const auto new_lines = lines_of(after);
  std::optional<blamed_line> most;
  for (const auto& [old_name, new_name] :
       code::pair_lines(code::names_of(old_lines), code::names_of(new_lines))) {
    if (new_name.empty()) continue;
    auto line = new_lines.at(new_name);
    const auto had = old_name.empty() ? 0 : old_lines.at(old_name).bytes;
    if (line.bytes <= had) continue;
    line.bytes -= had;
    if (!most || line.bytes > most->bytes) most = line;
  }
  return most;
}

std::optional<blamed_line> leaking_line(const run::process_report& process,
                                        const verdicts::verdict& leak) {
  for (const auto& one : leak.suspects) {
    const auto* const frame =
        user_frame(run::frames_at(process, one.stack), run::frames_at(process, one.forward));
    if (frame != nullptr) return blamed_line{*frame, one.bytes, one.bytes_per_step};
  }
  return std::nullopt;
}

outcome worst(const std::vector<finding>& findings) {
  if (findings.empty()) return outcome::unknown;
  return std::ranges::max(findings, {}, &finding::result).result;
}

std::string whole_sentence(const finding& one, const std::string& place) {
  auto text = one.sentence;
  if (one.line) text += "; " + line_in_words(one, place);
  if (one.leak == nullptr || one.result != outcome::broken) return text;
  if (const auto held_by = kept_by(*one.leak); !held_by.empty()) text += "; kept by " + held_by;
  return text;
}

std::string bytes_in_words(std::uint64_t bytes) {
  return bytes == 1 ? "1 byte" : text::format_bytes(bytes);
}

}  // namespace memtrace::check
