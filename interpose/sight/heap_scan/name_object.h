// SPDX-License-Identifier: Apache-2.0
//
// What a heap scan would call an object, if it were taken now: the same search, in the same order,
// until the object is met. For what the program hands over (memtrace.expect_growth).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "interpose/sight/heap_scan/heap_scan.h"
#include "interpose/sight/heap_scan/storage_reader.h"

namespace memtrace::heap_scan {

struct object_name {
  std::string path;   // self.outputs
  std::string owner;  // local of fit
  std::string file;   // of the owner
  std::uint32_t line = 0;
  std::string holder;      // class of the object whose attribute it is; empty: of none
  bool is_tensor = false;  // nothing is in it
};

// The innermost function has the object as an argument, which does not count. Needs the GIL.
// Nothing where this Python cannot be read, and where no name leads to the object. May throw
// std::bad_alloc.
[[nodiscard]] std::optional<object_name> name_object(python_stack::address object,
                                                     const storage_reader& reader,
                                                     const limits& at_most);

// The same at any place of the program (program_object.cpp): nothing where heap scans are off, or
// refused. Also before the agent runs: known objects and the stack are compared with what the
// interpreter says first, as the agent would have done. May leave an error set, of what the program
// raised meanwhile (Ctrl-C).
[[nodiscard]] std::optional<object_name> name_of_programs_object(python_stack::address object);

}  // namespace memtrace::heap_scan
