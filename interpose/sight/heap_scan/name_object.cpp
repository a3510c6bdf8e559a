// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/heap_scan/name_object.h"

#include "interpose/sight/heap_scan/path_names.h"
#include "interpose/sight/heap_scan/roots.h"
#include "interpose/sight/heap_scan/search.h"
#include "interpose/sight/python/frame_walk.h"

namespace memtrace::heap_scan {

namespace {

// Code of the function that handed the object over; 0: not known.
address innermost_code(const python_objects& python) noexcept {
  const address thread = python.interpreter->this_thread();
  if (thread == 0) return 0;
  return frame_at(python, python_stack::innermost_frame(*python.interpreter->offsets, thread)).code;
}

// As in a heap scan: the user's own code alone.
void search_until_met(search& searched, const root_finder& roots, address object,
                      address own_code) {
  const auto is_met = [&] { return searched.objects().find(object) != no_node; };
  searched.from(roots.main_module());
  for (const root_group& frame : roots.frames(true)) {
    if (is_met()) return;
    if (frame.front().owner != own_code) searched.from(frame);
  }
  if (!is_met()) searched.from(roots.modules(true));
  if (!is_met()) searched.from(roots.contexts());
  if (!is_met()) searched.from_postponed();
}

}  // namespace

std::optional<object_name> name_object(address object, const storage_reader& reader,
                                       const limits& at_most) {
  const python_objects* const python = find_python_objects();
  const py modules = python == nullptr ? nullptr : python->get_modules();
  if (modules == nullptr) return std::nullopt;
  const user_code code(*python, address_of(modules));
  deadline until(at_most.nanoseconds / 8 * 7);
  const root_finder roots(*python, code, address_of(modules), until);
  search searched(*python, reader, at_most.objects, until);
  if (searched.kind_of(object) == kind::nothing) return std::nullopt;
  searched.exclude(address_of(modules));
  // Of a module, and of its globals, each name begins a path of its own.
  if (searched.objects().find(object) != no_node) return std::nullopt;
  searched.exclude_running(roots.running());
  search_until_met(searched, roots, object, innermost_code(*python));
  const node met = searched.objects().find(object);
  if (met == no_node) return std::nullopt;
  until.extend(at_most.nanoseconds / 8);
  path_names names(*python, searched, roots.running(), 0);
  const place_number number = names.place_of(met);
  if (number == no_place) return std::nullopt;
  const place& where = names.places()[number];
  return object_name{where.text,          where.owner.what,
                     where.owner.file,    where.owner.line,
                     where.class_of_last, searched.kind_of(object) == kind::tensor};
}

}  // namespace memtrace::heap_scan
