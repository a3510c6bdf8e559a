// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trace/code/source_file.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace memtrace::code {

std::vector<std::string> lines_of_file(const std::string& file) {
  constexpr std::uintmax_t most_bytes = 4u << 20;  // of a file that somebody wrote
  std::error_code failed;
  // Neither a device nor a pipe that never ends.
  if (!std::filesystem::is_regular_file(file, failed) ||
      std::filesystem::file_size(file, failed) > most_bytes || failed) {
    return {};
  }
  std::ifstream content(file);
  std::vector<std::string> lines;
  for (std::string text; std::getline(content, text);) lines.push_back(std::move(text));
  return lines;
}

}  // namespace memtrace::code
