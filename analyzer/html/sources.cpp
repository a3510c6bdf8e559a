// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/sources.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <system_error>

#include "analyzer/html/names.h"
#include "analyzer/text/utf8.h"

namespace memtrace::html {

nlohmann::ordered_json sources_of(const std::vector<code::source_frame>& frames) {
  constexpr std::uintmax_t most_bytes = 4u << 20;  // of a file that somebody wrote
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
    std::error_code failed;
    // Neither a device nor a pipe that never ends.
    if (!std::filesystem::is_regular_file(file, failed) ||
        std::filesystem::file_size(file, failed) > most_bytes || failed) {
      continue;
    }
    std::ifstream content(file);
    std::string text;
    auto found = nlohmann::ordered_json::object();
    for (std::uint32_t line = 1; std::getline(content, text); ++line) {
      if (!lines.contains(line)) continue;
      found[std::to_string(line)] = shortened(text::valid_utf8(text));
    }
    if (!found.empty()) made[file] = std::move(found);
  }
  return made;
}

}  // namespace memtrace::html
