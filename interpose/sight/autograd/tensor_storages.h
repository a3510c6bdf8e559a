// SPDX-License-Identifier: Apache-2.0
//
// The GPU memory behind a tensor: one storage, or those of the tensors that a wrapping subclass
// (DTensor, quantised tensors) is made of. Needs the GIL and tensor_layout.h's confirmation.
#pragma once

#include <cstdint>

#include "interpose/sight/autograd/tensor_layout.h"
#include "interpose/sight/python/layout.h"
#include "interpose/sight/python/python_values.h"

namespace memtrace::autograd {

// torch.Tensor's base class, torch.Tensor and torch.nn.Parameter; kept for ever. Before they are
// known nothing is a tensor.
void know_tensor_types(python_stack::py base, python_stack::py tensor, python_stack::py parameter);
[[nodiscard]] bool is_tensor(python_stack::py object) noexcept;
[[nodiscard]] inline python_stack::py type_of(python_stack::py object) noexcept {
  namespace offset = python_stack::object;
  return python_stack::load<python_stack::py>(address_of(object), offset::type);
}

struct gpu_storage {
  std::uint64_t address;
  std::uint64_t bytes;
  const void* impl;  // of the tensor that is not a wrapper
};

namespace detail {
// "_local_tensor", where DTensor keeps its only one.
[[nodiscard]] python_stack::py local_tensor_name();
// The names of the attributes that another wrapper says it has, as a list or tuple, or null.
[[nodiscard]] python_stack::py names_of_parts(python_stack::py tensor);
// The attribute as a new reference, or null.
[[nodiscard]] python_stack::py attribute_of(python_stack::py object, python_stack::py name);
}  // namespace detail

// Calls found(name, part) for each tensor that a wrapper is made of.
template <typename Function>
void for_each_part(python_stack::py wrapper, Function found) {
  const python_stack::python_api& api = python_stack::python_functions();
  const python_stack::py local_name = detail::local_tensor_name();
  const python_stack::reference local(api, detail::attribute_of(wrapper, local_name));
  if (local) return found(local_name, local.get());
  const python_stack::reference names(api, detail::names_of_parts(wrapper));
  if (!names) return;
  for_each_item(names.get(), [&](python_stack::py name) {
    const bool is_name = python_stack::is_text(name);
    const python_stack::reference part(api,
                                       is_name ? detail::attribute_of(wrapper, name) : nullptr);
    if (part) found(name, part.get());
  });
}

inline constexpr int deepest_wrapper = 4;

// Calls found(gpu_storage) for each.
template <typename Function>
void for_each_storage(python_stack::py tensor, Function found, int depth = deepest_wrapper) {
  if (!is_tensor(tensor)) return;
  const void* const impl = impl_of(tensor);
  if (!is_defined(impl) || !is_cuda(impl)) return;
  if (const std::uint64_t address = storage_address(impl); address != 0) {
    found(gpu_storage{address, storage_bytes(impl), impl});
    return;
  }
  if (depth == 0) return;
  for_each_part(tensor, [&](python_stack::py, python_stack::py part) {
    for_each_storage(part, found, depth - 1);
  });
}

// Bytes of the tensor itself, which may be a part of its storage.
[[nodiscard]] std::uint64_t tensor_bytes(const void* impl) noexcept;
// "float32"; "" when it is not a known one.
[[nodiscard]] const char* type_name(const void* impl) noexcept;

}  // namespace memtrace::autograd
