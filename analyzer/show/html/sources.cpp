// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/html/sources.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "analyzer/base/text/utf8.h"
#include "analyzer/show/html/names.h"
#include "analyzer/trace/code/frames.h"

namespace memtrace::html {

nlohmann::ordered_json sources_of(const std::vector<code::source_frame>& frames) {
  constexpr std::uint32_t around = 2;
  std::map<std::string, std::set<std::uint32_t>> wanted;
  for (const auto& frame : frames) {
    if (!frame.user || frame.line == 0) continue;
    auto& lines = wanted[frame.file];
    for (auto line = frame.line; line <= frame.line + around; ++line) lines.insert(line);
    for (auto i = 1u; i <= around && i < frame.line; ++i) lines.insert(frame.line - i);
  }
  auto made = nlohmann::ordered_json::object();
  for (const auto& [file, lines] : wanted) {
    const auto content = code::lines_of_file(file);
    auto found = nlohmann::ordered_json::object();
    for (const auto line : lines) {
      if (line > content.size()) break;
      found[std::to_string(line)] = shortened(text::valid_utf8(content[line - 1]));
    }
    if (!found.empty()) made[file] = std::move(found);
  }
  return made;
}

}  // namespace memtrace::html
