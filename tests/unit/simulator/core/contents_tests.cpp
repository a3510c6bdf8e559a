// SPDX-License-Identifier: Apache-2.0
#include "simulator/core/contents.h"

#include <cstring>
#include <string>
#include <vector>

#include "tests/unit/catch.h"

using namespace memtrace::simulator;

namespace {

constexpr address_t base = 0x7000'0000'0000;

std::string read(address_t from, std::size_t bytes, bool& known) {
  std::string result(bytes, '?');
  known = contents::read(result.data(), from, bytes);
  return result;
}

}  // namespace

TEST_CASE("reads say whether all of it was known", "[contents]") {
  bool known = true;
  CHECK(read(base, 4, known) == std::string(4, '\0'));
  CHECK_FALSE(known);
  contents::upload(base, "abcd", 4);
  CHECK(read(base, 4, known) == "abcd");
  CHECK(known);
  CHECK(read(base + 2, 4, known) == std::string("cd\0\0", 4));
  CHECK_FALSE(known);
  contents::zero(base + 4, 2);
  CHECK(read(base + 2, 4, known) == std::string("cd\0\0", 4));
  CHECK(known);
  contents::forget(base, 100);
}

TEST_CASE("fills wider than a byte keep their phase when cut", "[contents]") {
  bool known = false;
  contents::fill(base, 0x64636261, 4, 1000);
  contents::forget(base + 1, 1);
  CHECK(read(base + 2, 5, known) == "cdabc");
  CHECK(known);
  contents::copy(base + 8001, base + 3, 4);
  CHECK(read(base + 8001, 4, known) == "dabc");
  contents::forget(base, 10000);
}

TEST_CASE("a kernel's output is forgotten as far as it must reach", "[contents]") {
  bool known = true;
  contents::upload(base, std::string(600, 'a').data(), 600);
  contents::upload(base + 600, "b", 1);
  contents::upload(base + 1024, "c", 1);
  SECTION("at the start of a unit: what was put there, and the unit") {
    contents::upload(base + 16, "d", 1);
    contents::computed_from(base);
    CHECK(read(base + 16, 1, known) == std::string(1, '\0'));
    CHECK(read(base + 600, 1, known) == "b");
  }
  SECTION("so many bytes, in whole units") {
    contents::computed_from(base, 513);
    CHECK(read(base + 600, 1, known) == std::string(1, '\0'));
    CHECK(read(base + 1024, 1, known) == "c");
  }
  SECTION("inside a unit: only what was put there") {
    contents::computed_from(base + 600);
    CHECK(read(base + 599, 2, known) == std::string("a\0", 2));
    CHECK(read(base + 1024, 1, known) == "c");
  }
  contents::forget(base, 2000);
}

TEST_CASE("copies onto themselves move what is known", "[contents]") {
  bool known = false;
  contents::upload(base, "abcdefgh", 8);
  contents::copy(base + 2, base, 6);
  CHECK(read(base, 8, known) == "ababcdef");
  CHECK(known);
  contents::forget(base, 100);
}

TEST_CASE("what is remembered stays within its budget, the newest first", "[contents]") {
  const std::vector<char> data(contents::remember_limit, 'x');
  const std::size_t uploads = 2 * contents::budget / data.size();
  for (std::size_t i = 0; i < uploads; ++i) {
    contents::upload(base + i * data.size(), data.data(), data.size());
    REQUIRE(contents::remembered() <= contents::budget);
  }
  bool known = true;
  CHECK(read(base, 1, known) == std::string(1, '\0'));
  CHECK_FALSE(known);
  CHECK(read(base + (uploads - 1) * data.size(), 1, known) == "x");
  contents::forget(base, uploads * data.size());
  CHECK(contents::remembered() == 0);
}

TEST_CASE("what is large does not drive out what is small", "[contents]") {
  bool known = false;
  contents::upload(base, "flag", 4);
  const std::vector<char> data(contents::remember_limit, 'x');
  const std::size_t uploads = 2 * contents::budget / data.size();
  const address_t batches = base + contents::remember_limit;
  for (std::size_t i = 0; i < uploads; ++i) {
    contents::upload(batches + i * data.size(), data.data(), data.size());
  }
  CHECK(read(base, 4, known) == "flag");
  CHECK(known);
  contents::forget(base, (uploads + 1) * data.size());
  CHECK(contents::remembered() == 0);
}
