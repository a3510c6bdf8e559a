// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/python/python_api.h"

#include <initializer_list>

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

bool is_observed(const python_api& api) {
  for (const char* name : {"gettrace", "getprofile"}) {
    const py function = api.system_object(name);
    const reference observer(api, function == nullptr ? nullptr : api.call(function, nullptr));
    if (!observer) {
      api.clear_error();
      return true;
    }
    if (observer.get() != api.none) return true;
  }
  return false;
}

}  // namespace memtrace::python_stack
