// SPDX-License-Identifier: Apache-2.0
//
// A container that names alone lead to ("trainer.outputs", "cache['keys']"), found again from its
// first name at any time. Nothing is remembered but names: no address of an object, which may be
// another one's by then, and no reference, which would keep it alive.
//
//   local of a running frame │ global of a module ─► .attribute ─► ['key'] ─► its length
//
// Every object on the way is reached from a frame that runs or from sys.modules, by references that
// it is held with, while this thread has the GIL and runs nothing of Python's: so none of them can
// go meanwhile. (One exception is made of the code object of a frame: its address is remembered,
// and only compared with that of frames that run.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "interpose/sight/heap_scan/python_types.h"

namespace memtrace::heap_scan {

struct named_part {
  enum class kind : std::uint8_t { attribute, key };
  kind what{};
  std::string name;
  // Where the name stood in its dictionary last: looked at first.
  std::ptrdiff_t hint = 0;
};

struct named_container {
  std::string text;        // "trainer.outputs"
  std::string owner;       // "local of fit", "global of __main__"
  address code = 0;        // of the function; 0: it begins at a module's global
  std::uint32_t line = 0;  // the function's first
  std::string variable;    // its first name
  // As of a part, of a module in sys.modules and of its variable.
  std::ptrdiff_t module_hint = 0;
  std::ptrdiff_t variable_hint = 0;
  std::vector<named_part> parts;
};

// The name after "local of " or "global of "; nothing of other owners.
[[nodiscard]] std::optional<std::string_view> first_place(std::string_view owner) noexcept;

// Needs the GIL. Allocates nothing, calls nothing that does or that runs Python. Nothing where a
// name leads nowhere, or to what is no list, tuple, dict, set, deque or bytearray.
[[nodiscard]] std::optional<std::uint64_t> length_now(const python_objects& python,
                                                      named_container& which) noexcept;

}  // namespace memtrace::heap_scan
