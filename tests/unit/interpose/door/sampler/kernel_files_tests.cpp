// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/base/kernel_files.h"

#include <array>
#include <cstdint>
#include <fstream>
#include <set>
#include <string>

#include "tests/unit/catch.h"
#include "tests/unit/support/recorders.h"

using namespace memtrace;

TEST_CASE("GIVEN a status file WHEN a key is asked for THEN its number, and nothing for another") {
  constexpr std::string_view text =
      "Name:\tpython\nVmRSS:\t  1024 kB\nVmRSS2:\t7 kB\nThreads:\t3\n";
  CHECK(number_after(text, "VmRSS:") == 1024);
  CHECK(number_after(text, "Threads:") == 3);
  CHECK(number_after(text, "Name:") == std::nullopt);
  CHECK(number_after(text, "VmSwap:") == std::nullopt);
}

TEST_CASE("numbers that do not fit are none") {
  CHECK(number_in("18446744073709551615") == ~std::uint64_t{0});
  CHECK(number_in("18446744073709551616") == std::nullopt);
  CHECK(number_in("max\n") == std::nullopt);
  CHECK(number_in("") == std::nullopt);
}

TEST_CASE("GIVEN a file longer than the buffer WHEN read THEN whole lines only") {
  const memtrace::test::temporary_folder folder;
  const std::string path = folder.path() + "/file";
  std::ofstream(path) << "first 1\nsecond 2\nthird 3\n";
  std::array<char, 20> small;
  CHECK(read_file(path.c_str(), small) == "first 1\nsecond 2\n");
  std::array<char, 100> large;
  CHECK(read_file(path.c_str(), large) == "first 1\nsecond 2\nthird 3\n");
  CHECK(read_file((path + "2").c_str(), large).empty());
}

TEST_CASE("GIVEN a directory WHEN listed THEN its numbers, all of them") {
  const memtrace::test::temporary_folder folder;
  std::set<std::uint64_t> made;
  for (std::uint64_t i = 1; i <= 700; ++i) {  // more than one call of the kernel lists
    std::ofstream(folder.path() + "/" + std::to_string(i));
    made.insert(i);
  }
  std::ofstream(folder.path() + "/other");
  std::set<std::uint64_t> found;
  CHECK(for_each_number(folder.path().c_str(), [&](std::uint64_t n) { found.insert(n); }));
  CHECK(found == made);
  CHECK_FALSE(for_each_number((folder.path() + "/none").c_str(), [](std::uint64_t) {}));
}
