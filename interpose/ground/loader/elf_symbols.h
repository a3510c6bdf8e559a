// SPDX-License-Identifier: Apache-2.0
//
// Symbols that a library does not export: read from the .symtab of its file. Official PyTorch
// wheels have one; 0.1 ms in libc10_cuda.so.
#pragma once

#include <cstdint>
#include <span>

#include "interpose/ground/base/loaded_library.h"

namespace memtrace {

struct symbol_query {
  const char* prefix;          // of the mangled name
  unsigned times = 0;          // result: how many there are; the rest is of the last
  std::uintptr_t address = 0;  // result
  std::uint64_t size = 0;      // result, bytes
  char rest[100] = {};         // result: what follows the prefix, cut off
};

// Fills in what it finds. Parts that the compiler split off (NAME.cold) are passed over.
void find_local_symbols(const loaded_library& library, std::span<symbol_query> queries) noexcept;

}  // namespace memtrace
