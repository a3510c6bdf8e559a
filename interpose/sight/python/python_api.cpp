// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/python/python_api.h"

#include "interpose/sight/python/interpreter.h"

namespace memtrace::python_stack {

python_api find_python_api() noexcept {
  python_api api;
  api.none = static_cast<py>(find_symbol("_Py_NoneStruct"));
  api.complete = api.none != nullptr;
#define MEMTRACE_FIND(member, name, result, parameters)    \
  api.member = find_function<decltype(api.member)>(#name); \
  api.complete = api.complete && api.member != nullptr;
  MEMTRACE_PYTHON_API(MEMTRACE_FIND)
#undef MEMTRACE_FIND
  return api;
}

}  // namespace memtrace::python_stack
