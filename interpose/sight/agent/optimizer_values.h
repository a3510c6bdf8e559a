// SPDX-License-Identifier: Apache-2.0
//
// The tensors of an optimizer: its parameters, their gradients, its states. Needs the GIL.
//
//   param_groups: [{"params": [p, …], "lr": …}, …]
//   state:        {p: {"exp_avg": tensor, "old_dirs": [tensor, …], …}, …}
#pragma once

#include <string>

#include "interpose/sight/agent/short_names.h"

namespace memtrace::agent {

// Where a parameter stands in param_groups.
struct parameter_place {
  unsigned group;
  unsigned index;
  // "param_groups[0].params[3]"
  [[nodiscard]] std::string name() const {
    return "param_groups[" + std::to_string(group) + "].params[" + std::to_string(index) + "]";
  }
};

// Calls each(parameter, place).
template <typename Function>
void for_each_parameter(py groups, Function each) {
  const python_api& api = python_functions();
  unsigned group_number = 0;
  for_each_item(groups, [&](py group) {
    const py parameters = is_dict(group) ? api.get_item(group, "params") : nullptr;
    unsigned index = 0;
    if (parameters != nullptr) {
      for_each_item(parameters, [&](py parameter) {
        if (is_tensor(parameter)) each(parameter, parameter_place{group_number, index});
        ++index;
      });
    }
    ++group_number;
  });
}

// Its .grad as a new reference, or null.
[[nodiscard]] inline py gradient_of_wrapper(py parameter) {
  static constinit py name = nullptr;  // looked up once, with the GIL
  if (name == nullptr) name = interned("grad");
  const python_api& api = python_functions();
  const py gradient = name == nullptr ? nullptr : api.get_attribute(parameter, name);
  if (gradient == nullptr) api.clear_error();
  return gradient;
}

// Calls found(gpu_storage) for what .grad holds.
template <typename Function>
void for_each_gradient(py parameter, Function found) {
  const void* const impl = autograd::impl_of(parameter);
  if (!autograd::is_defined(impl) || !autograd::is_cuda(impl)) return;
  if (autograd::storage_address(impl) == 0) {
    const reference gradient(python_functions(), gradient_of_wrapper(parameter));
    if (gradient) for_each_storage(gradient.get(), found);
    return;
  }
  const void* const gradient = autograd::gradient_of(impl);
  if (gradient == nullptr || !autograd::is_defined(gradient) || !autograd::is_cuda(gradient)) {
    return;
  }
  if (const std::uint64_t address = autograd::storage_address(gradient); address != 0) {
    found(gpu_storage{address, autograd::storage_bytes(gradient), gradient});
  }
}

namespace detail {

// Calls each(key, value), both owned meanwhile.
template <typename Function>
void for_each_pair(py dict, Function each) {
  const python_api& api = python_functions();
  std::ptrdiff_t place = 0;
  py key = nullptr, value = nullptr;
  while (api.dict_next(dict, &place, &key, &value) != 0) {
    api.inc_ref(key);
    api.inc_ref(value);
    const reference owned_key(api, key), owned_value(api, value);
    each(key, value);
  }
}

inline constexpr int deepest_state = 4;

template <typename Function>
void for_each_state_in(py value, py owner, std::string_view key, Function each, int depth) {
  if (is_tensor(value)) {
    each(owner, key, value);
  } else if (depth > 0 && is_dict(value)) {
    for_each_pair(value, [&](py inner_key, py inner) {
      const std::string_view own = text_of(inner_key);
      for_each_state_in(inner, owner, own.empty() ? key : own, each, depth - 1);
    });
  } else if (depth > 0) {
    for_each_item(value, [&](py inner) { for_each_state_in(inner, owner, key, each, depth - 1); });
  }
}

}  // namespace detail

// Calls each(owner, key, tensor); the owner is the parameter, or null for what belongs to none.
template <typename Function>
void for_each_state(py groups, py state, Function each) {
  using detail::deepest_state, detail::for_each_pair, detail::for_each_state_in;
  for_each_item(groups, [&](py group) {
    if (!is_dict(group)) return;
    for_each_pair(group, [&](py key, py value) {
      if (is_tensor(value)) each(nullptr, text_of(key), value);
    });
  });
  if (!is_dict(state)) return;
  for_each_pair(state, [&](py owner, py value) {
    const bool is_parameter = is_tensor(owner);
    for_each_state_in(value, is_parameter ? owner : nullptr, text_of(owner), each, deepest_state);
  });
}

}  // namespace memtrace::agent
