// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/check/github.h"

#include <fmt/core.h>

#include "analyzer/base/text/utf8.h"
#include "analyzer/run/check/text.h"

namespace memtrace::check {

namespace {

[[nodiscard]] std::string escaped(std::string_view text, std::string_view special) {
  std::string out;
  for (const char c : text::valid_utf8(text)) {
    if (special.find(c) == special.npos) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned>(c));
    }
  }
  return out;
}

}  // namespace

std::string github_message(std::string_view text) {
  return escaped(text, "%\r\n");
}

std::string github_property(std::string_view text) {
  return escaped(text, "%\r\n:,");
}

std::string to_github(const std::vector<finding>& findings, std::string_view workspace) {
  std::string text;
  for (const auto& one : findings) {
    if (one.result == outcome::ok) continue;
    text += one.result == outcome::broken ? "::error " : "::warning ";
    if (one.line) {
      text +=
          fmt::format("file={},line={},", github_property(below(workspace, one.line->where.file)),
                      one.line->where.line);
    }
    const auto title =
        fmt::format("memtrace check {}, {}: {}", one.check, one.who, name_of(one.result));
    text += fmt::format("title={}::{}\n", github_property(title),
                        github_message(message_of(one, workspace)));
  }
  return text;
}

}  // namespace memtrace::check
