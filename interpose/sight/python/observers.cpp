// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/python/observers.h"

#include <initializer_list>

namespace memtrace::python_stack {

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
