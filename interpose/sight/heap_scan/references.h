// SPDX-License-Identifier: Apache-2.0
//
// The references of an object, as far as a heap scan follows them: through tp_traverse, as the
// garbage collector does, which runs no code of the program. Not followed: a module's and a
// function's globals, and the names of what a dictionary holds.
#pragma once

#include "interpose/sight/heap_scan/object_kinds.h"

namespace memtrace::heap_scan {

// One object at a time. False: nothing more is wanted, also not of an object with millions of
// references.
class reference_visitor {
 public:
  [[nodiscard]] virtual bool visit(address object) noexcept = 0;
  [[nodiscard]] virtual bool visit_key(address object) noexcept = 0;

 protected:
  ~reference_visitor() = default;
};

void visit_references(const python_objects& python, address object, kind what,
                      reference_visitor& visitor) noexcept;

}  // namespace memtrace::heap_scan
