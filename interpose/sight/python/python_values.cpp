// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/python/python_values.h"

#include <atomic>

#include "interpose/sight/python/layout.h"

namespace memtrace::python_stack {

namespace {

constinit python_api functions;

// Py_TPFLAGS_*_SUBCLASS.
constexpr unsigned long list_subclass = 1ul << 25;
constexpr unsigned long tuple_subclass = 1ul << 26;
constexpr unsigned long dict_subclass = 1ul << 29;

bool has_flag(py object, unsigned long flag) noexcept {
  namespace offset = python_stack::object;
  const auto type = load<address>(reinterpret_cast<address>(object), offset::type);
  return (load<unsigned long>(type, offset::type_flags) & flag) != 0;
}

}  // namespace

const python_api& python_functions() noexcept {
  return functions;
}

bool find_python_functions() noexcept {
  if (functions.complete) return true;
  python_api found = find_python_api();
  const bool complete = found.complete;
  found.complete = false;  // until the others are there, should a fork come between
  functions = found;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  functions.complete = complete;
  return complete;
}

std::string_view text_of(py object) {
  if (object == nullptr || !is_text(object)) return {};
  std::ptrdiff_t size = 0;
  const char* const bytes = functions.utf8(object, &size);
  if (bytes == nullptr) {
    functions.clear_error();  // lone surrogates
    return {};
  }
  return {bytes, static_cast<std::size_t>(size)};
}

py interned(const char* name) {
  const py text = functions.intern_text(name);
  if (text == nullptr) functions.clear_error();
  return text;
}

bool is_list(py object) noexcept {
  return has_flag(object, list_subclass);
}
bool is_tuple(py object) noexcept {
  return has_flag(object, tuple_subclass);
}
bool is_dict(py object) noexcept {
  return has_flag(object, dict_subclass);
}
bool is_text(py object) noexcept {
  return has_flag(object, python_stack::object::text_subclass);
}

py none() {
  functions.inc_ref(functions.none);
  return functions.none;
}

}  // namespace memtrace::python_stack
