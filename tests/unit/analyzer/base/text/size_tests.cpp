// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/text/units.h"

#include "tests/unit/catch.h"

using memtrace::text::parse_size;

TEST_CASE("A size is a number with a binary or an SI unit, or bytes") {
  CHECK(parse_size("24GiB") == 24ULL << 30);
  CHECK(parse_size("512 MiB") == 512ULL << 20);
  CHECK(parse_size("80G") == 80ULL << 30);
  CHECK(parse_size("1.5T") == 3ULL << 39);
  CHECK(parse_size("1.5TB") == 1'500'000'000'000);
  CHECK(parse_size("24GB") == 24'000'000'000);
  CHECK(parse_size("512 MB") == 512'000'000U);
  CHECK(parse_size("3kB") == 3000U);
  CHECK(parse_size("17B") == 17U);
  CHECK(parse_size("2k") == 2048U);
  CHECK(parse_size("1000") == 1000U);
}

TEST_CASE("What is no size is refused") {
  for (const auto* const text : {"", "GiB", "0", "0GiB", "1.5", ".5GiB", "24 GiBs", "24x", "-1GiB",
                                 "1e3", "99999999T", "1.2.3GiB", "1.5B", "1b", "GB"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_size(text).has_value());
  }
}
