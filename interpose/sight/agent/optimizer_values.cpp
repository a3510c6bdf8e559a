// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/agent/optimizer_values.h"

namespace memtrace::agent {

std::string parameter_place::name() const {
  return "param_groups[" + std::to_string(group) + "].params[" + std::to_string(index) + "]";
}

py gradient_of_wrapper(py parameter) {
  static constinit py name = nullptr;  // looked up once, with the GIL
  if (name == nullptr) name = interned("grad");
  const python_api& api = python_functions();
  const py gradient = name == nullptr ? nullptr : api.get_attribute(parameter, name);
  if (gradient == nullptr) api.clear_error();
  return gradient;
}

}  // namespace memtrace::agent
