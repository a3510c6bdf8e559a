// SPDX-License-Identifier: Apache-2.0
//
// Every function of the CUDA release that memtrace was made for, by name (known_names.def): those
// that hooks.def does not list are passed through on purpose.
#pragma once

#include <array>
#include <string_view>

namespace memtrace {

// Names of the driver or the runtime; version suffixes (_v2) and those of the per-thread stream do
// not matter.
[[nodiscard]] bool is_known_name(std::string_view name) noexcept;

struct driver_symbol {
  std::array<char, 64> text{};  // NUL-terminated; "" if it cannot be told
};

// The symbol that a name of cuGetProcAddress means to a program made for a CUDA version (12040 is
// 12.4): cuMemAlloc is cuMemAlloc_v2 from 3.2 on. Later releases than the known one tell nothing.
[[nodiscard]] driver_symbol symbol_of_version(std::string_view name, int version,
                                              bool per_thread_stream) noexcept;

// The same where no version was given: only if all versions are one symbol.
[[nodiscard]] driver_symbol only_symbol(std::string_view name, bool per_thread_stream) noexcept;

}  // namespace memtrace
