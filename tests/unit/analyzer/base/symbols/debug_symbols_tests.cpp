// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/symbols/debug_symbols.h"

#include <fmt/core.h>
#include <link.h>
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "tests/unit/catch.h"

using namespace memtrace;

namespace {

// Where the program lies in memory, so that its own addresses can be looked up.
[[nodiscard]] std::uint64_t bias() {
  std::uint64_t found = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* loaded, std::size_t, void* data) {
        *static_cast<std::uint64_t*>(data) = loaded->dlpi_addr;
        return 1;  // the program is the first
      },
      &found);
  return found;
}

[[nodiscard]] std::string own_path() {
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

[[nodiscard]] std::string identity_of(const std::string& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return fmt::format("{}.{}", status.st_size,
                     status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec);
}

struct outer {
  [[gnu::noinline]] static std::uint64_t here() {
    return reinterpret_cast<std::uint64_t>(
        __builtin_extract_return_addr(__builtin_return_address(0)));
  }
};

[[gnu::noinline]] std::uint64_t asks(std::uint32_t& line) {
  line = __LINE__ + 1;
  const auto at = outer::here();
  return at - 1;  // within the call
}

}  // namespace

TEST_CASE("GIVEN an address of this program THEN function, file and line are told") {
  symbols::debug_symbols all;
  std::uint32_t line = 0;
  const auto places = all.places_of(own_path(), identity_of(own_path()), asks(line) - bias());
  REQUIRE_FALSE(places.empty());
  CHECK(places.front().function == "(anonymous namespace)::asks");
  CHECK(std::filesystem::path(places.front().file).filename() == "debug_symbols_tests.cpp");
  CHECK(places.front().line == line);
}

TEST_CASE("GIVEN another file, or none, THEN nothing is told") {
  symbols::debug_symbols all;
  std::uint32_t line = 0;
  const auto address = asks(line) - bias();
  CHECK(all.places_of(own_path(), "00ff", address).empty());
  CHECK(all.places_of(own_path(), "1.2", address).empty());
  CHECK(all.places_of(own_path(), "", address).empty());
  CHECK(all.places_of("", "1.2", address).empty());
  CHECK(all.places_of("relative/path", "1.2", address).empty());
  CHECK(all.places_of("/no/such/file", "1.2", address).empty());
  CHECK(all.places_of("/dev/zero", identity_of("/dev/zero"), address).empty());
  CHECK(all.places_of("/proc/self/maps", identity_of("/proc/self/maps"), address).empty());
  CHECK(all.places_of(own_path(), identity_of(own_path()), ~std::uint64_t{0}).empty());
}

TEST_CASE("GIVEN names of the linker THEN they are told as they are written") {
  CHECK(symbols::readable_name("_ZN7trainer8log_lossEf") == "trainer::log_loss");
  CHECK(symbols::readable_name("_ZN2at4_ops7nonzero4callERKNS_6TensorE") ==
        "at::_ops::nonzero::call");
  CHECK(symbols::readable_name("_ZNK4math3addclEii") == "math::add::operator()");
  CHECK(symbols::readable_name("_ZN12_GLOBAL__N_15layerEb") == "(anonymous namespace)::layer");
  CHECK(symbols::readable_name("_ZN1AltEi") == "A::operator<");
  CHECK(symbols::readable_name("_ZN4mathplIfEENS_6tensorIT_Li2EEERKS3_m") ==
        "math::operator+<float>");
  CHECK(symbols::readable_name("_ZN4math6tensorIfLi2EEC2Em") == "math::tensor<float, 2>::tensor");
  CHECK(symbols::readable_name("_ZZ4mainENKUlmE_clEm") ==
        "main::{lambda(unsigned long)#1}::operator()");
  CHECK(symbols::readable_name("_ZNK1AcvSt6vectorIiSaIiEEEv") ==
        "A::operator std::vector<int, std::allocator<int> >");
  CHECK(symbols::readable_name("_ZN1AnwEm") == "A::operator new");
  CHECK(symbols::readable_name("main") == "main");
  CHECK(symbols::readable_name("_Z") == "_Z");
  CHECK(symbols::readable_name("") == "");
}

TEST_CASE("GIVEN a short name that stands for a very long one THEN it stays as it is") {
  // Each level names the one before twice: "std::pair<X, X>".
  std::string bomb = "_Z1fSt4pairIiiE";
  for (int level = 0; level < 24; ++level) {
    const std::string before = level == 0 ? "S_" : "S" + std::to_string(level - 1) + "_";
    bomb += "St4pairI" + before + before + "E";
  }
  CHECK(symbols::readable_name(bomb) == bomb);
}
