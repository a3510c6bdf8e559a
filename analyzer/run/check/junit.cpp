// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/check/junit.h"

#include <fmt/core.h>

#include <algorithm>

#include "analyzer/base/text/utf8.h"
#include "analyzer/run/check/text.h"

namespace memtrace::check {

namespace {

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
