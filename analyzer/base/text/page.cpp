// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/text/page.h"

#include <fmt/core.h>

#include <algorithm>

#include "analyzer/base/text/utf8.h"

namespace memtrace::text {

namespace {

[[nodiscard]] std::string_view code_of(emphasis how) {
  switch (how) {
    case emphasis::heading:
      return "\x1b[1m";
    case emphasis::alarm:
      return "\x1b[1;31m";
    case emphasis::faint:
      return "\x1b[2m";
    case emphasis::none:
      break;
  }
  return {};
}

}  // namespace

void page::sentence(std::string_view text, emphasis how) {
  const auto begin = std::min(text.find_first_not_of(' '), text.size());
  const std::string indent(begin, ' ');
  const auto room = columns_ == 0 ? text.size() : columns_ - std::min(begin + 4, columns_ / 2);
  bool is_first = true;
  for (const auto& part : wrap(text.substr(begin), std::max<std::size_t>(room, 20))) {
    line(indent + (is_first ? "" : "    ") + part, how);
    is_first = false;
  }
}

void page::item(std::string_view label, std::string_view text) {
  constexpr std::size_t columns = 92;
  bool is_first = true;
  for (const auto& part : wrap(text, columns)) {
    line(fmt::format("  {:<{}}{}", is_first ? label : "", label.size(), part));
    is_first = false;
  }
}

void page::line(std::string_view text, emphasis how) {
  lines_.push_back({printable(text), how});
}

std::string page::render(bool colour, unsigned width) const {
  std::string out;
  for (const auto& [text, how] : lines_) {
    const auto code = colour && !text.empty() ? code_of(how) : std::string_view();
    out += code;
    out += width == 0 ? text : cut_at_word(text, width);
    if (!code.empty()) out += "\x1b[0m";
    out += '\n';
  }
  return out;
}

std::vector<std::string> wrap(std::string_view text, std::size_t columns) {
  const auto characters = [](std::string_view part) {
    return static_cast<std::size_t>(std::ranges::count_if(
        part, [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }));
  };
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    const auto word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (lines.empty() || characters(lines.back()) + 1 + characters(word) > columns) {
      lines.emplace_back(word);
    } else {
      lines.back() += ' ';
      lines.back() += word;
    }
  }
  return lines;
}

std::string cut(std::string_view text, std::size_t columns) {
  std::size_t characters = 0;
  std::size_t last_start = 0;  // of the character in the last column
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) == 0x80) continue;  // inside a character
    ++characters;
    if (characters == columns) last_start = i;
    if (characters > columns) return std::string(text.substr(0, last_start)) + "…";
  }
  return std::string(text);
}

std::string cut_at_word(std::string_view text, std::size_t columns) {
  auto shortened = cut(text, columns);
  if (shortened == text) return shortened;
  constexpr std::string_view sign = "…";
  if (shortened.ends_with(sign)) shortened.resize(shortened.size() - sign.size());
  const auto end = shortened.find_last_of(' ');
  const auto words = end == shortened.npos ? end : shortened.find_last_not_of(' ', end);
  if (words == shortened.npos || words < shortened.size() / 2) return cut(text, columns);
  return shortened.substr(0, words + 1) + " " + std::string(sign);
}

std::string join(const std::vector<std::string>& parts, std::string_view between) {
  std::string out;
  for (const auto& part : parts) {
    if (part.empty()) continue;
    if (!out.empty()) out += between;
    out += part;
  }
  return out;
}

}  // namespace memtrace::text
