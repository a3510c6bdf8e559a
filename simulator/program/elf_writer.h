// SPDX-License-Identifier: Apache-2.0
// Writes x86-64 ELF shared objects without a compiler, as glibc's loader and ld accept them.
//
// Each function is a thunk of 16 bytes that loads the address of its record into r11 and jumps
// through a GOT slot to `target`. A record is 8 bytes for the callee to keep what it found, then
// the function's name with its NUL (simulator/stubs/ reads it).
//
// A library may have one more function, `caller`, which calls what its fourth argument points to
// with its first three: so that the call comes from the library, as a return address shows.
#pragma once

#include <string>
#include <vector>

namespace memtrace::simulator {

struct library_description {
  std::string soname;
  std::vector<std::string> needed;     // sonames or absolute paths
  std::vector<std::string> functions;  // exported names, unique
  std::string target;                  // imported symbol they all jump to; empty if no functions
  std::string caller{};                // exported name, empty for none
};

[[nodiscard]] std::string write_library(const library_description& library);

}  // namespace memtrace::simulator
