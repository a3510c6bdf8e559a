// SPDX-License-Identifier: Apache-2.0
//
// The facts about CPython that a heap scan needs beyond a stack (python/layout.h): types by their
// exported names, functions that neither allocate nor run anything, and byte offsets by version
// from CPython's headers (Include/cpython, Include/internal, Objects/), regular 64-bit builds.
#pragma once

#include <string_view>

#include "interpose/sight/python/interpreter.h"
#include "interpose/sight/python/python_api.h"

namespace memtrace::heap_scan {

using python_stack::address;
using python_stack::load;
using python_stack::not_there;
using python_stack::py;

// Where objects keep what has a name.
struct object_layout {
  unsigned minor;  // of 3.x
  // Before an object with a dictionary that the interpreter manages (3.11 on): its values, as long
  // as they stand in an array of their own, and the dictionary.
  std::int16_t values;
  std::int16_t managed_dict;
  std::uint16_t cached_keys;      // of a class made in Python: names of those values
  std::uint16_t generator_frame;  // up to 3.10 its address, from 3.11 on the frame itself
  std::uint16_t generator_state;  // one byte, 3.11 on
  signed char frame_cleared;      // value of that byte, and above
  std::uint16_t tuple_items;
  std::uint16_t frozen;  // where gc.freeze() puts objects, behind the youngest generation
  std::uint16_t thread_exceptions;
  std::uint16_t exception_value;  // in an item of that list
  std::uint16_t exception_previous;
  std::uint16_t thread_context;
  std::uint16_t code_variable_count;  // of all variables, 3.11 on
  std::uint16_t code_variables;       // tuple of names; up to 3.10 of locals only,
  std::uint16_t code_free;            // then of free variables
  std::uint16_t code_cells;           // and of cells
};

// The same in every version.
namespace offset {
inline constexpr std::uint16_t reference_count = 0;  // its lower half from 3.12 on
inline constexpr std::uint16_t basic_size = 32;      // of a type
inline constexpr std::uint16_t traverse = 184;
inline constexpr std::uint16_t members = 240;
inline constexpr std::uint16_t base = 256;
inline constexpr std::uint16_t dict_offset = 288;
inline constexpr std::uint16_t item_count = 16;  // of list, tuple, dict, deque
inline constexpr std::uint16_t set_count = 24;
inline constexpr std::uint16_t deque_bound = 64;
inline constexpr std::uint16_t lru_cache = 72;
inline constexpr std::uint16_t lru_bound = 96;
inline constexpr std::uint16_t frame_of_object = 24;  // 3.11 on
}  // namespace offset

// Py_TPFLAGS_*
namespace type_flag {
inline constexpr unsigned long inline_values = 1ul << 2;  // 3.13
inline constexpr unsigned long managed_dict = 1ul << 4;
inline constexpr unsigned long heap_type = 1ul << 9;
inline constexpr unsigned long has_gc = 1ul << 14;
inline constexpr unsigned long integer = 1ul << 24;
inline constexpr unsigned long list = 1ul << 25;
inline constexpr unsigned long tuple = 1ul << 26;
inline constexpr unsigned long text = 1ul << 28;
inline constexpr unsigned long dict = 1ul << 29;
inline constexpr unsigned long exception = 1ul << 30;
inline constexpr unsigned long type = 1ul << 31;
}  // namespace type_flag

// X(member, exported name)
#define MEMTRACE_CENSUS_TYPES(X)           \
  X(type, PyType_Type)                     \
  X(dict, PyDict_Type)                     \
  X(list, PyList_Type)                     \
  X(tuple, PyTuple_Type)                   \
  X(set, PySet_Type)                       \
  X(frozen_set, PyFrozenSet_Type)          \
  X(function, PyFunction_Type)             \
  X(method, PyMethod_Type)                 \
  X(cell, PyCell_Type)                     \
  X(frame, PyFrame_Type)                   \
  X(traceback, PyTraceBack_Type)           \
  X(generator, PyGen_Type)                 \
  X(coroutine, PyCoro_Type)                \
  X(async_generator, PyAsyncGen_Type)      \
  X(module, PyModule_Type)                 \
  X(list_iterator, PyListIter_Type)        \
  X(tuple_iterator, PyTupleIter_Type)      \
  X(values_iterator, PyDictIterValue_Type) \
  X(items_iterator, PyDictIterItem_Type)

// X(member, exported name, result, parameters): borrowed references, nothing allocated.
#define MEMTRACE_CENSUS_FUNCTIONS(X)                                  \
  X(modules, PyImport_GetModuleDict, py, ())                          \
  X(dict_next, PyDict_Next, int, (py, std::ptrdiff_t*, py*, py*))     \
  X(is_subtype, PyType_IsSubtype, int, (py, py))                      \
  X(is_tracked, PyObject_GC_IsTracked, int, (py))                     \
  X(code_of_function, PyFunction_GetCode, py, (py))                   \
  X(globals_of_function, PyFunction_GetGlobals, py, (py))             \
  X(defaults_of_function, PyFunction_GetDefaults, py, (py))           \
  X(keyword_defaults_of_function, PyFunction_GetKwDefaults, py, (py)) \
  X(closure_of_function, PyFunction_GetClosure, py, (py))             \
  X(dict_of_module, PyModule_GetDict, py, (py))                       \
  X(main_interpreter, PyInterpreterState_Main, void*, ())             \
  X(first_thread, PyInterpreterState_ThreadHead, void*, (void*))      \
  X(next_thread, PyThreadState_Next, void*, (void*))

struct python_objects {
#define MEMTRACE_MEMBER(member, name) address member = 0;
  MEMTRACE_CENSUS_TYPES(MEMTRACE_MEMBER)
#undef MEMTRACE_MEMBER
#define MEMTRACE_MEMBER(member, name, result, parameters) \
  result(*get_##member) parameters = nullptr;
  MEMTRACE_CENSUS_FUNCTIONS(MEMTRACE_MEMBER)
#undef MEMTRACE_MEMBER
  const python_stack::interpreter* interpreter = nullptr;
  const object_layout* layout = nullptr;
};

// Null where this Python cannot be read (python/interpreter.h), or lacks one of them.
[[nodiscard]] const python_objects* find_python_objects() noexcept;

[[nodiscard]] inline py object_at(address object) noexcept {
  return reinterpret_cast<py>(object);
}
[[nodiscard]] inline address type_of(address object) noexcept {
  return load<address>(object, python_stack::object::type);
}
[[nodiscard]] inline unsigned long flags_of(address type) noexcept {
  return load<unsigned long>(type, python_stack::object::type_flags);
}
[[nodiscard]] inline bool has_flag(address object, unsigned long flag) noexcept {
  return (flags_of(type_of(object)) & flag) != 0;
}

// An entry that the program puts into sys.modules need not be one.
[[nodiscard]] inline bool is_module(const python_objects& python, address object) noexcept {
  return object != 0 &&
         python.get_is_subtype(object_at(type_of(object)), object_at(python.module)) != 0;
}

// "deque" of collections.deque; classes made in Python have their bare name only.
[[nodiscard]] std::string_view full_name_of_type(address type) noexcept;
[[nodiscard]] std::string_view name_of_type(address type) noexcept;

// Calls each(key, value) with addresses until it returns false; never where there is no dictionary.
template <typename Function>
void for_each_pair(const python_objects& python, address dict, Function each) {
  std::ptrdiff_t place = 0;
  py key = nullptr, value = nullptr;
  while (dict != 0 && python.get_dict_next(object_at(dict), &place, &key, &value) != 0) {
    if (!each(address_of(key), address_of(value))) return;
  }
}

// The value of a dictionary whose key is this str; 0: none. Looks at every key.
[[nodiscard]] address value_of_key(const python_objects& python, address dict,
                                   std::string_view key) noexcept;

// An ASCII str as it stands; "" for others and for what is no str.
[[nodiscard]] std::string_view plain_text(const python_objects& python, address text) noexcept;

}  // namespace memtrace::heap_scan
