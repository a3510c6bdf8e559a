// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/python/line_table.h"

namespace memtrace::python_stack {

namespace {

using bytes = std::span<const std::uint8_t>;

// Pairs (bytes of code, signed line difference); the difference holds after those bytes.
int line_in_lnotab(bytes table, int line, int instruction) noexcept {
  int start = 0;
  for (std::size_t i = 0; i + 1 < table.size(); i += 2) {
    start += table[i];
    if (start > instruction) break;
    line += static_cast<std::int8_t>(table[i + 1]);
  }
  return line;
}

// Pairs (bytes of code, signed line difference); the difference holds for those bytes; -128: none.
int line_in_ranges(bytes table, int line, int instruction) noexcept {
  constexpr int no_line = -128;
  int end = 0;
  for (std::size_t i = 0; i + 1 < table.size(); i += 2) {
    end += table[i];
    const int difference = static_cast<std::int8_t>(table[i + 1]);
    if (difference != no_line) line += difference;
    if (instruction < end) return difference == no_line ? 0 : line;
  }
  return 0;
}

// Six bits a byte, low first, bit 6: more follow. The lowest bit of the value is the sign.
int signed_number(bytes table, std::size_t at) noexcept {
  std::uint32_t value = 0;
  for (unsigned shift = 0; at < table.size() && shift < 32; shift += 6) {
    const std::uint8_t byte = table[at++];
    value |= static_cast<std::uint32_t>(byte & 63) << shift;
    if ((byte & 64) == 0) break;
  }
  const int magnitude = static_cast<int>(value >> 1);
  return (value & 1) != 0 ? -magnitude : magnitude;
}

// Entries: 1 kkkk ccc, then bytes without the top bit. ccc + 1 code units; kind kkkk.
int line_in_locations(bytes table, int line, int instruction) noexcept {
  constexpr unsigned one_line = 10, two_lines_on = 12, no_columns = 13, full = 14, no_line = 15;
  int end = 0;
  for (std::size_t at = 0; at < table.size();) {
    const unsigned kind = (table[at] >> 3) & 15u;
    end += 2 * ((table[at] & 7) + 1);
    if (kind >= one_line && kind <= two_lines_on) line += static_cast<int>(kind - one_line);
    if (kind == no_columns || kind == full) line += signed_number(table, at + 1);
    if (instruction < end) return kind == no_line ? 0 : line;
    do ++at;
    while (at < table.size() && (table[at] & 128) == 0);
  }
  return 0;
}

}  // namespace

std::uint32_t line_at(line_format format, std::span<const std::uint8_t> table, int first_line,
                      int instruction) noexcept {
  int line = first_line;
  if (instruction >= 0) {
    switch (format) {
      case line_format::lnotab:
        line = line_in_lnotab(table, first_line, instruction);
        break;
      case line_format::ranges:
        line = line_in_ranges(table, first_line, instruction);
        break;
      case line_format::locations:
        line = line_in_locations(table, first_line, instruction);
        break;
    }
  }
  return line > 0 ? static_cast<std::uint32_t>(line) : 0;
}

}  // namespace memtrace::python_stack
