// SPDX-License-Identifier: Apache-2.0
//
// Tables written by hand from the format descriptions in CPython's Objects/lnotab_notes.txt and
// Objects/locations.md.
#include "interpose/sight/python/line_table.h"

#include <vector>

#include "tests/unit/catch.h"

namespace {

using memtrace::python_stack::line_at;
using memtrace::python_stack::line_format;
using table = std::vector<std::uint8_t>;

constexpr std::uint8_t minus(int value) {
  return static_cast<std::uint8_t>(-value);
}

// kind and code units, as the first byte of an entry of 3.11.
constexpr std::uint8_t entry(unsigned kind, unsigned units) {
  return static_cast<std::uint8_t>(128 | kind << 3 | (units - 1));
}

// The example of lnotab_notes.txt: code 0 is line 1, 6 is 2, 50 is 7, 350 is 207, 361 is 208.
const table lnotab = {6, 1, 44, 5, 255, 0, 45, 127, 0, 73, 11, 1};

// 0 to 8 line 10, to 20 line 13, to 24 no line, to 30 line 12.
const table ranges = {8, 0, 12, 3, 4, minus(128), 6, minus(1)};

// 4 bytes of line 10 (no columns), 2 of 11 (one line, +1), 2 of 11 (short), 6 without a line,
// 16 of 11 + 100 (full: 200 = 0b11'001000, the end line and two columns), 2 of 109 (-2).
const table locations = {entry(13, 2),
                         0,
                         entry(11, 1),
                         4,
                         9,
                         entry(2, 1),
                         0x35,
                         entry(15, 3),
                         entry(14, 8),
                         64 | 8,
                         3,
                         0,
                         5,
                         9,
                         entry(13, 1),
                         5};

}  // namespace

TEST_CASE("3.9: a difference holds from its address on") {
  const auto line = [](int at) { return line_at(line_format::lnotab, lnotab, 1, at); };
  CHECK(line(0) == 1);
  CHECK(line(5) == 1);
  CHECK(line(6) == 2);
  CHECK(line(49) == 2);
  CHECK(line(50) == 7);
  CHECK(line(349) == 7);
  CHECK(line(350) == 207);
  CHECK(line(360) == 207);
  CHECK(line(361) == 208);
}

TEST_CASE("3.9: lines go back") {
  CHECK(line_at(line_format::lnotab, table{4, 9, 4, minus(6)}, 20, 3) == 20);
  CHECK(line_at(line_format::lnotab, table{4, 9, 4, minus(6)}, 20, 4) == 29);
  CHECK(line_at(line_format::lnotab, table{4, 9, 4, minus(6)}, 20, 8) == 23);
}

TEST_CASE("3.10: a difference holds for its bytes, and some have no line") {
  const auto line = [](int at) { return line_at(line_format::ranges, ranges, 10, at); };
  CHECK(line(0) == 10);
  CHECK(line(7) == 10);
  CHECK(line(8) == 13);
  CHECK(line(19) == 13);
  CHECK(line(20) == 0);
  CHECK(line(24) == 12);
  CHECK(line(29) == 12);
  CHECK(line(30) == 0);
}

TEST_CASE("3.11: every kind of entry") {
  const auto line = [](int at) { return line_at(line_format::locations, locations, 10, at); };
  CHECK(line(0) == 10);
  CHECK(line(3) == 10);
  CHECK(line(4) == 11);
  CHECK(line(6) == 11);
  CHECK(line(8) == 0);
  CHECK(line(13) == 0);
  CHECK(line(14) == 111);
  CHECK(line(29) == 111);
  CHECK(line(30) == 109);
  CHECK(line(32) == 0);
}

TEST_CASE("a call that has not begun stands at the first line") {
  CHECK(line_at(line_format::lnotab, lnotab, 5, -1) == 5);
  CHECK(line_at(line_format::ranges, ranges, 5, -2) == 5);
  CHECK(line_at(line_format::locations, locations, 5, -2) == 5);
}

TEST_CASE("a table cut anywhere gives the line, none, or one on the way; nothing beyond is read") {
  for (const int at : {0, 9, 14, 25, 31}) {
    for (std::size_t size = 0; size <= locations.size(); ++size) {
      const table cut(locations.begin(), locations.begin() + static_cast<std::ptrdiff_t>(size));
      CHECK(line_at(line_format::locations, cut, 10, at) <= 111);
    }
    for (std::size_t size = 0; size <= ranges.size(); ++size) {
      const table cut(ranges.begin(), ranges.begin() + static_cast<std::ptrdiff_t>(size));
      const auto got = line_at(line_format::ranges, cut, 10, at);
      CHECK((got == line_at(line_format::ranges, ranges, 10, at) || got == 0));
    }
  }
}
