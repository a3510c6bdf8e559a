// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/heap_scan/object_kinds.h"

namespace memtrace::heap_scan {

kind object_kinds::of_builtin(address type) const noexcept {
  const python_objects& python = python_;
  if (type == python.dict) return kind::dict;
  if (type == python.list) return kind::list;
  if (type == python.tuple) return kind::tuple;
  if (type == python.set || type == python.frozen_set) return kind::set;
  if (type == python.cell) return kind::cell;
  if (type == python.function) return kind::function;
  if (type == python.frame) return kind::frame;
  if (type == python.traceback) return kind::traceback;
  if (type == python.generator || type == python.coroutine || type == python.async_generator) {
    return kind::generator;
  }
  if (type == python.module) return kind::module;
  return kind::unknown;
}

kind object_kinds::by_bases(address type) const noexcept {
  for (address base = type; base != 0; base = load<address>(base, offset::base)) {
    if (base == python_.module) return kind::module;
    if (base == python_.set || base == python_.frozen_set) return kind::set;
    const std::string_view name = full_name_of_type(base);
    if (name == "collections.deque") return kind::deque;
    if (name == "functools._lru_cache_wrapper") return kind::lru_cache;
    if (name == "Optimizer") return kind::optimizer;
    if (name == "torch._C._FunctionBase") return kind::graph_node;
  }
  return kind::plain;
}

kind object_kinds::look_at(address type, address object) const noexcept {
  const kind builtin = of_builtin(type);
  if (builtin != kind::unknown) return builtin;
  if (reader_.is_tensor(object)) return kind::tensor;
  if (reader_.is_storage(object)) return kind::storage;
  const unsigned long flags = flags_of(type);
  if ((flags & type_flag::has_gc) == 0) return kind::nothing;
  if ((flags & type_flag::type) != 0) return kind::type;
  if ((flags & type_flag::dict) != 0) return kind::dict;
  if ((flags & type_flag::list) != 0) return kind::list;
  if ((flags & type_flag::tuple) != 0) return kind::tuple;
  if ((flags & type_flag::exception) != 0) return kind::exception;
  return by_bases(type);
}

}  // namespace memtrace::heap_scan
