// SPDX-License-Identifier: Apache-2.0
//
// The GPU memory behind a tensor: one storage, or those of the tensors that a wrapping subclass
// (DTensor, quantised tensors) is made of. Needs the GIL and tensor_layout.h's confirmation.
#pragma once

#include <cstdint>

#include "interpose/autograd/tensor_layout.h"
#include "interpose/python/python_values.h"

namespace memtrace::autograd {

// torch.Tensor's base class, torch.Tensor and torch.nn.Parameter; kept for ever. Before they are
// known nothing is a tensor.
void know_tensor_types(python_stack::py base, python_stack::py tensor, python_stack::py parameter);
[[nodiscard]] bool is_tensor(python_stack::py object) noexcept;

struct gpu_storage {
  std::uint64_t address;
  std::uint64_t bytes;
  const void* impl;  // of the tensor that is not a wrapper
};

namespace detail {
// The tensors that a wrapper is made of, as a list or tuple, or null.
[[nodiscard]] python_stack::py parts_of_wrapper(python_stack::py tensor);
}  // namespace detail

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
  const python_stack::reference parts(python_stack::python_functions(),
                                      detail::parts_of_wrapper(tensor));
  if (!parts) return;
  for_each_item(parts.get(),
                [&](python_stack::py part) { for_each_storage(part, found, depth - 1); });
}

// Bytes of the tensor itself, which may be a part of its storage.
[[nodiscard]] std::uint64_t tensor_bytes(const void* impl) noexcept;
// "float32"; "" when it is not a known one.
[[nodiscard]] const char* type_name(const void* impl) noexcept;

}  // namespace memtrace::autograd
