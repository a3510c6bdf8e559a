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

TEST_CASE("a kernel that writes at an address forgets what was put there as a whole",
          "[contents]") {
  bool known = true;
  contents::upload(base, "abcdefgh", 8);
  contents::upload(base + 8, "ij", 2);
  contents::computed(base);
  CHECK(read(base, 10, known) == std::string(8, '\0') + "ij");
  CHECK_FALSE(known);
  contents::forget(base, 100);
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
