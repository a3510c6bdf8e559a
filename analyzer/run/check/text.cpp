// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/check/text.h"

#include <fmt/core.h>

#include <algorithm>

#include "analyzer/base/text/utf8.h"

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

constexpr std::string_view replacement = "\xEF\xBF\xBD";
// U+FFFE and U+FFFF are UTF-8, and no characters of XML.
constexpr std::string_view no_character[] = {"\xEF\xBF\xBE", "\xEF\xBF\xBF"};

void append_escaped(std::string& out, char c) {
  switch (c) {
    case '&':
      out += "&amp;";
      return;
    case '<':
      out += "&lt;";
      return;
    case '>':
      out += "&gt;";
      return;
    case '"':
      out += "&quot;";
      return;
    case '\n':
    case '\r':
    case '\t':  // as they stand, a reader makes spaces of them
      out += fmt::format("&#{};", static_cast<int>(c));
      return;
    default:
      break;
  }
  if (static_cast<unsigned char>(c) < 0x20) {
    out += replacement;
  } else {
    out += c;
  }
}

[[nodiscard]] std::string case_of(const finding& one, std::string_view folder) {
  auto text = fmt::format("    <testcase classname=\"memtrace.check\" name=\"{}\"",
                          xml_escaped(one.check + " " + one.who));
  if (one.line) {
    text += fmt::format(" file=\"{}\" line=\"{}\"",
                        xml_escaped(below(folder, one.line->where.file)), one.line->where.line);
  }
  const auto message = xml_escaped(message_of(one, folder));
  if (one.result == outcome::ok) {
    return text + fmt::format(">\n      <system-out>{}</system-out>\n    </testcase>\n", message);
  }
  const auto* const kind = one.result == outcome::broken ? "failure" : "error";
  return text +
         fmt::format(">\n      <{0} type=\"{1}\" message=\"{2}\">{2}</{0}>\n    </testcase>\n",
                     kind, xml_escaped(one.check), message);
}

}  // namespace

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

std::string xml_escaped(std::string_view text) {
  auto valid = text::valid_utf8(text);
  for (const auto wrong : no_character) {
    for (auto at = valid.find(wrong); at != valid.npos; at = valid.find(wrong, at)) {
      valid.replace(at, wrong.size(), replacement);
    }
  }
  std::string out;
  out.reserve(valid.size());
  for (const char c : valid) append_escaped(out, c);
  return out;
}

std::string to_junit(const std::vector<finding>& findings, std::string_view folder) {
  const auto failures = std::ranges::count(findings, outcome::broken, &finding::result);
  const auto errors = std::ranges::count(findings, outcome::unknown, &finding::result);
  const auto counts =
      fmt::format("name=\"memtrace check\" tests=\"{}\" failures=\"{}\" errors=\"{}\"",
                  findings.size(), failures, errors);
  auto text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n  <testsuite {0} "
      "skipped=\"0\">\n",
      counts);
  for (const auto& one : findings) text += case_of(one, folder);
  return text + "  </testsuite>\n</testsuites>\n";
}

}  // namespace memtrace::check
