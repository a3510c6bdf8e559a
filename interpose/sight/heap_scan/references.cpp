// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/heap_scan/references.h"

#include "interpose/sight/heap_scan/frame_variables.h"
#include "interpose/sight/heap_scan/instance_values.h"

namespace memtrace::heap_scan {

namespace {

using traverse_function = int (*)(py object, int (*visit)(py, void*), void* argument);

// A result that is not 0 ends the object's traversal.
int pass_on(py object, void* visitor) {
  return static_cast<reference_visitor*>(visitor)->visit(address_of(object)) ? 0 : 1;
}

bool visit_if_any(address object, reference_visitor& visitor) noexcept {
  return object == 0 || visitor.visit(object);
}

// An object that the collector does not track is either not finished yet or holds nothing.
void traverse(const python_objects& python, address object, reference_visitor& visitor) noexcept {
  if (python.get_is_tracked(object_at(object)) == 0) return;
  const auto function = load<traverse_function>(type_of(object), offset::traverse);
  if (function != nullptr) function(object_at(object), &pass_on, &visitor);
}

void visit_pairs(const python_objects& python, address dict, reference_visitor& visitor) noexcept {
  for_each_pair(python, dict, [&](address key, address value) {
    return visitor.visit(value) && visitor.visit_key(key);
  });
}

void visit_attributes(const python_objects& python, address object,
                      reference_visitor& visitor) noexcept {
  if (!visit_if_any(instance_dict(python, object), visitor)) return;
  for_each_inline_value(python, object,
                        [&](address, address value) { return visitor.visit(value); });
}

void visit_variables(const python_objects& python, const read_frame& from,
                     reference_visitor& visitor) noexcept {
  for_each_variable(python, from, [&](address, address value) { return visitor.visit(value); });
}

void visit_function(const python_objects& python, address function,
                    reference_visitor& visitor) noexcept {
  const py object = object_at(function);
  for (const py part :
       {python.get_closure_of_function(object), python.get_defaults_of_function(object),
        python.get_keyword_defaults_of_function(object)}) {
    if (!visit_if_any(address_of(part), visitor)) return;
  }
  static_cast<void>(visit_if_any(instance_dict(python, function), visitor));
}

}  // namespace

void visit_references(const python_objects& python, address object, kind what,
                      reference_visitor& visitor) noexcept {
  switch (what) {
    case kind::unknown:
    case kind::nothing:
    case kind::module:
      return;
    case kind::dict:
      visit_pairs(python, object, visitor);
      if (type_of(object) != python.dict) visit_attributes(python, object, visitor);
      return;
    case kind::function:
      return visit_function(python, object, visitor);
    case kind::frame:
      return visit_variables(python, frame_of_object(python, object), visitor);
    case kind::tensor:
      // Its own traversal leaves everything out while C++ holds the tensor too.
      visit_attributes(python, object, visitor);
      return traverse(python, object, visitor);
    default:
      return traverse(python, object, visitor);
  }
}

}  // namespace memtrace::heap_scan
