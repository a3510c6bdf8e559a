// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/python/code_deaths.h"

#include <memory>
#include <vector>

#include "tests/unit/catch.h"

namespace {

using memtrace::python_stack::address;
using memtrace::python_stack::code_deaths;

struct seen {
  bool complete;
  std::vector<address> codes;
};

seen died_since(const code_deaths& deaths, std::uint32_t from) {
  std::array<address, code_deaths::remembered> into{};
  std::uint32_t filled = 0;
  const bool complete = deaths.died_since(from, deaths.count(), into, filled);
  return {complete, {into.begin(), into.begin() + filled}};
}

}  // namespace

TEST_CASE("only the death of remembered code counts") {
  const auto deaths = std::make_unique<code_deaths>();
  deaths->remember(0x7f0000001000);
  deaths->died(0x7f0000002000);
  CHECK(deaths->count() == 0);
  deaths->died(0x7f0000001000);
  CHECK(deaths->count() == 1);
  CHECK(died_since(*deaths, 0).codes == std::vector<address>{0x7f0000001000});
  CHECK(died_since(*deaths, 1).codes.empty());
}

TEST_CASE("an address that is used and dies again counts again") {
  const auto deaths = std::make_unique<code_deaths>();
  for (int i = 0; i < 3; ++i) {
    deaths->remember(0x1000);
    deaths->died(0x1000);
  }
  CHECK(died_since(*deaths, 1).codes == std::vector<address>{0x1000, 0x1000});
}

TEST_CASE("more deaths than are remembered are not taken for a complete list") {
  const auto deaths = std::make_unique<code_deaths>();
  for (address code = 1; code < code_deaths::remembered; ++code) {
    deaths->remember(code * 4096);
    deaths->died(code * 4096);
  }
  const seen all = died_since(*deaths, 0);
  CHECK(all.complete);
  CHECK(all.codes.size() == code_deaths::remembered - 1);
  for (int i = 0; i < 2; ++i) deaths->died(4096);
  CHECK_FALSE(died_since(*deaths, 0).complete);
  CHECK(died_since(*deaths, 2).complete);
}
