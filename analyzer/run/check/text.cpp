// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/check/text.h"

#include <fmt/core.h>

#include "analyzer/base/text/utf8.h"

namespace memtrace::check {

std::string below(std::string_view folder, const std::string& file) {
  while (folder.size() > 1 && folder.ends_with('/')) folder.remove_suffix(1);
  const bool lies_below = folder.size() > 1 && file.starts_with(folder) &&
                          file.size() > folder.size() + 1 && file[folder.size()] == '/';
  return lies_below ? file.substr(folder.size() + 1) : file;
}

std::string place_in(std::string_view folder, const code::source_frame& frame) {
  return fmt::format("{}:{} {}", below(folder, frame.file), frame.line, frame.function);
}

std::string message_of(const finding& one, std::string_view folder) {
  return whole_sentence(one, one.line ? place_in(folder, one.line->where) : std::string());
}

std::string to_text(const std::vector<finding>& findings, std::string_view folder) {
  std::string text;
  for (const auto& one : findings) {
    text += fmt::format("{:<7} {} {}: {}\n", name_of(one.result), one.check,
                        text::printable(one.who), text::printable(message_of(one, folder)));
  }
  return text;
}

}  // namespace memtrace::check
