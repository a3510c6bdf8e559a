// SPDX-License-Identifier: Apache-2.0
//
// What a person reads: sizes, lines that fit, text that is harmless.
#include <string>

#include "analyzer/report/json_text.h"
#include "analyzer/report/page.h"
#include "analyzer/report/units.h"
#include "tests/unit/catch.h"
#include "tests/unit/support/trace_builder.h"

using namespace memtrace;
using namespace memtrace::test;
using namespace memtrace::report;

TEST_CASE("GIVEN sizes, times and counts WHEN formatted THEN they are binary and say so") {
  CHECK(format_bytes(17) == "17 bytes");
  CHECK(format_bytes(1536) == "1.50 KiB");
  CHECK(format_bytes(24259_MiB) == "23.69 GiB");
  CHECK(format_bytes(~0ull) == "16.00 EiB");
  CHECK(format_seconds(3'420'000'000) == "3.42 s");
  CHECK(format_seconds(125'000'000'000) == "2 min 5 s");
  CHECK(format_count(0) == "0");
  CHECK(format_count(1234567) == "1,234,567");
}

TEST_CASE(
    "GIVEN text that is not UTF-8 WHEN written as JSON or to a terminal THEN it is harmless") {
  std::string json;
  append_json_string(json, "a\"\\\n\x01é\xff\xc0\xaf\xed\xa0\x80");
  CHECK(json ==
        "\"a\\\"\\\\\\u000a\\u0001é\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf"
        "\xbd\xef\xbf\xbd\"");
  CHECK(printable("red\x1b[31m\x7f\xc2\x9bx") == "red?[31m??x");
}

TEST_CASE("GIVEN a line WHEN cut THEN whole characters are counted") {
  CHECK(cut("héllo", 5) == "héllo");
  CHECK(cut("héllo", 4) == "hél…");
  CHECK(cut("abc", 1) == "…");
}
