// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/program/gone_through.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <regex>

#include "analyzer/judge/verdicts/program/other_names.h"

namespace memtrace::verdicts {

namespace {

// Of its function the outermost loop that the line is in.
[[nodiscard]] std::optional<std::size_t> outermost_loop(const program_text& program,
                                                        std::size_t line) {
  std::optional<std::size_t> found;
  for (auto at = program.above(line); at; at = program.above(*at)) {
    if (program.begins(*at, {"def", "async def", "class"})) break;
    if (program.begins(*at, {"for", "while", "async for"})) found = at;
  }
  return found;
}

// batches = [sentences[at:at + 4] for at in range(0, len(sentences), 4)] … for batch in batches:
// also of an object, batches = Batches(sentences, 4)
[[nodiscard]] bool is_over_parts(const program_text& program, std::size_t loop,
                                 const std::string& container) {
  static const std::regex over(R"(\bin\s+(?:enumerate\()?(\w+)\)?:$)");
  std::smatch found;
  if (!std::regex_search(program.at(loop), found, over)) return false;
  const std::regex parts(fmt::format(R"([\[(].*\b{}\b)", container));
  for (std::size_t i = 0; i < loop; ++i) {
    if (!program.names(i, container)) continue;
    const auto value = assigned_to(found[1].str(), program.at(i));
    if (std::regex_search(value, parts)) return true;
  }
  return false;
}

// for step in range(steps): … sentences[4 * step:4 * step + 4], without a remainder.
[[nodiscard]] bool is_over_its_numbers(const program_text& program, std::size_t loop,
                                       const std::string& container) {
  static const std::regex over(R"(^for\s+\(?(\w+)\b.*\bin\s+(?:range|enumerate)\()");
  std::smatch found;
  if (!std::regex_search(program.at(loop), found, over)) return false;
  const std::regex at(fmt::format(R"(\b{}\[[^\]%]*\b{}\b[^\]%]*\])", container, found[1].str()));
  for (auto i = loop + 1; i < program.end_of(loop); ++i) {
    if (program.names(i, container) && std::regex_search(program.at(i), at)) return true;
  }
  return false;
}

}  // namespace

bool is_gone_through_once(const program_text& program, const std::string& container,
                          const std::vector<std::uint32_t>& lines) {
  if (container.empty()) return false;
  const auto by_this_name = by_one_name(program, container);
  const std::regex through(
      fmt::format(R"(^(?:async )?for\b.*\bin\b.*\b{}\b(?!\s*[.\[]))", container));
  // The outermost loop of all, which no other begins again.
  for (auto at = lines.rbegin(); at != lines.rend(); ++at) {
    if (*at == 0 || *at > program.size()) continue;
    const auto loop = outermost_loop(by_this_name, *at - std::size_t{1});
    if (!loop) continue;
    return std::regex_search(by_this_name.at(*loop), through) ||
           is_over_parts(by_this_name, *loop, container) ||
           is_over_its_numbers(by_this_name, *loop, container);
  }
  return false;
}

}  // namespace memtrace::verdicts
