// SPDX-License-Identifier: Apache-2.0
//
// The line of an instruction, from a code object's line table. CPython's own PyCode_Addr2Line
// needs no GIL either, but from 3.11 on it reads what another thread may be writing while a
// tracer is being installed; the table itself never changes.
// Formats: Objects/lnotab_notes.txt (3.9, 3.10), Objects/locations.md (3.11 on).
#pragma once

#include <cstdint>
#include <span>

#include "interpose/sight/python/layout.h"

namespace memtrace::python_stack {

// `instruction` is a byte offset into the code; negative (not begun) gives first_line. 0 where
// the table says that the instruction belongs to no line, and for one outside the table.
[[nodiscard]] std::uint32_t line_at(line_format format, std::span<const std::uint8_t> table,
                                    int first_line, int instruction) noexcept;

}  // namespace memtrace::python_stack
