// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/terminal/device_use.h"

#include <fmt/core.h>

#include <cmath>

#include "analyzer/base/text/page.h"
#include "analyzer/base/text/units.h"

namespace memtrace::terminal {

namespace {

[[nodiscard]] std::string unexplained_words(std::int64_t bytes) {
  if (bytes == 0) return "nothing unexplained";
  const auto size = text::format_bytes(static_cast<std::uint64_t>(std::llabs(bytes)));
  return bytes < 0 ? size + " less than the sum of these" : size + " unexplained";
}

// As many to a line as fit; what follows the first line is `indent` columns in.
void add_packed(text::page& out, std::string line, std::size_t columns,
                const std::vector<std::string>& parts) {
  const std::string indent(columns, ' ');
  bool is_first = true;
  for (const auto& part : parts) {
    if (!is_first && line.size() + part.size() + 2 > text::usual_columns) {
      out.line(line + ",");
      line = indent;
      is_first = true;
    }
    line += (is_first ? "" : ", ") + part;
    is_first = false;
  }
  out.line(line);
}

}  // namespace

void add_device_use(text::page& out, const run::device_report& device) {
  if (!device.used) {
    for (const auto& holder : device.outside) {
      out.line(fmt::format("  outside        {:>11}  {}", text::format_bytes(holder.bytes),
                           device::words_of_part(holder.owner)));
    }
    return;
  }
  const auto& used = *device.used;
  constexpr std::size_t most_parts = 8;
  std::vector<std::string> parts;
  std::uint64_t rest = 0;
  for (const auto& one : used.parts) {
    if (parts.size() == most_parts) {
      rest += one.bytes;
    } else {
      parts.push_back(
          fmt::format("{} {}", text::format_bytes(one.bytes), device::words_of_part(one.name)));
    }
  }
  if (rest != 0) parts.push_back(text::format_bytes(rest) + " more");
  parts.push_back(unexplained_words(used.unexplained));
  const auto begin = fmt::format("  most in use    {:>11}  ", text::format_bytes(used.used));
  add_packed(out, begin + fmt::format("at {}: ", text::format_seconds(used.time_ns)), begin.size(),
             parts);
}

}  // namespace memtrace::terminal
