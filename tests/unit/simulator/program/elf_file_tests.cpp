// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include "simulator/program/elf_file.h"
#include "simulator/program/elf_writer.h"
#include "temporary_folder.h"
#include "tests/unit/catch.h"

using namespace memtrace::simulator;

namespace {

bool everything(std::string_view, std::string_view) {
  return true;
}

std::string small_library() {
  return write_library(
      {"libown.so.1", {"libother.so.2", "/a path/lib.so"}, {"one", "two"}, "jump"});
}

}  // namespace

TEST_CASE("names of a library are read back as they were written") {
  const temporary_folder folder;
  const auto file = read_elf(folder.write("libown.so", small_library()), everything);
  REQUIRE(file);
  CHECK(file->soname == "libown.so.1");
  CHECK(file->needed == std::vector<std::string>{"libother.so.2", "/a path/lib.so"});
  CHECK(file->defined == std::vector<std::string>{"one", "two"});
  REQUIRE(file->undefined.size() == 1);
  CHECK(file->undefined[0].name == "jump");
}

TEST_CASE("versioned references name the library that they belong to") {
  // The C library's own dependants are built by somebody else's linker, with DT_GNU_HASH.
  const auto self = read_elf("/proc/self/exe", everything);
  REQUIRE(self);
  CHECK(std::find(self->needed.begin(), self->needed.end(), "libc.so.6") != self->needed.end());
  const auto start =
      std::find_if(self->undefined.begin(), self->undefined.end(),
                   [](const elf_symbol& s) { return s.name == "__libc_start_main"; });
  REQUIRE(start != self->undefined.end());
  CHECK(start->version_file == "libc.so.6");
}

TEST_CASE("what is no x86-64 library is refused") {
  const temporary_folder folder;
  CHECK_FALSE(read_elf(folder.path() / "missing", everything));
  CHECK_FALSE(read_elf(folder.path(), everything));
  CHECK_FALSE(read_elf(folder.write("empty", ""), everything));
  CHECK_FALSE(read_elf(folder.write("text", "INPUT(libcudart.so.13)\n"), everything));
  std::string narrow = small_library();
  narrow[4] = 1;  // ELFCLASS32
  CHECK_FALSE(read_elf(folder.write("narrow", narrow), everything));
  std::string foreign = small_library();
  foreign[18] = static_cast<char>(0xb7);  // AArch64
  CHECK_FALSE(read_elf(folder.write("foreign", foreign), everything));
}

TEST_CASE("every truncation and every changed byte of a library is survived") {
  const temporary_folder folder;
  const std::string good = small_library();
  for (std::size_t length = 0; length < good.size(); length += length < 1200 ? 1 : 97) {
    (void)read_elf(folder.write("cut", good.substr(0, length)), everything);
  }
  for (std::size_t at = 0; at < good.size(); at += 3) {
    for (const char value : {'\x00', '\x7f', '\xff'}) {
      std::string bad = good;
      bad[at] = value;
      const auto file = read_elf(folder.write("flip", bad), everything);
      if (file) CHECK(file->defined.size() + file->undefined.size() <= good.size() / 24);
    }
  }
}
