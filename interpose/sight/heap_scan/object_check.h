// SPDX-License-Identifier: Apache-2.0
//
// Whether objects are laid out in this process as python_types.h says: known ones, made by
// object_check.py, are read and compared. Nothing is followed before the kernel has copied it
// (readable_memory), so that a wrong offset is an answer and no crash.
#pragma once

#include "interpose/sight/heap_scan/python_types.h"

namespace memtrace::heap_scan {

enum class object_verdict : std::uint8_t {
  agrees,
  differs,
  raised,  // what the program raised meanwhile, which is set
};

// With the GIL. Runs Python code. `leave`: called with the code object of what runs.
[[nodiscard]] object_verdict check_objects(const python_objects& python, py leave);

}  // namespace memtrace::heap_scan
