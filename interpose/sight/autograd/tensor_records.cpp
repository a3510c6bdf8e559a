// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/autograd/tensor_records.h"

#include <algorithm>
#include <iterator>

#include "interpose/sight/autograd/scalar_types.h"
#include "interpose/sight/autograd/scope.h"
#include "interpose/sight/autograd/tensor_layout.h"

namespace memtrace::autograd {
namespace {

// Those that are no scalars yet: smaller integers, float8 without sign, pairs of float4.
constexpr std::uint8_t later_element_bytes = 1;

std::uint64_t saved_bytes(const void* tensor) noexcept {
  const std::uint32_t type = scalar_type(tensor);
  std::uint64_t bytes = type < std::size(scalars) ? scalars[type].bytes : later_element_bytes;
  const std::uint32_t count = dimensions(tensor);
  for (std::uint32_t i = 0; i < count; ++i) bytes *= size(tensor, i);
  // An expanded tensor has more elements than memory.
  return std::min(bytes, storage_bytes(tensor));
}

bool is_on_gpu(const void* tensor) noexcept {
  return is_cuda(tensor) && storage_address(tensor) != 0;
}

}  // namespace

void record_saved(recorder& to, const void* tensor, std::uint32_t flags) noexcept {
  if (!is_confirmed() || !is_on_gpu(tensor)) return;
  if (requires_grad(tensor)) flags |= format::saved_requires_grad;
  if (is_leaf(tensor)) flags |= format::saved_leaf;
  if (is_autocast_on()) flags |= format::saved_autocast;
  const std::uint32_t count = dimensions(tensor);
  to.saved({.address = storage_address(tensor),
            .bytes = saved_bytes(tensor),
            .flags = flags,
            .scalar_type = scalar_type(tensor),
            .dimensions = count,
            .rows = count > 1 ? size(tensor, count - 2) : 0,
            .columns = count > 0 ? size(tensor, count - 1) : 0});
}

void record_accumulated(recorder& to, const void* leaf) noexcept {
  if (!is_confirmed() || leaf == nullptr || !is_on_gpu(leaf)) return;
  const void* const gradient = gradient_of(leaf);
  if (gradient == nullptr) return;  // backward was asked for other gradients
  to.storage_once({.role = format::storage_role::leaf,
                   .address = storage_address(leaf),
                   .bytes = storage_bytes(leaf),
                   .flags = format::storage_trainable});
  // A sparse gradient has no memory of its own to name.
  if (!is_on_gpu(gradient)) return;
  to.storage_once({.role = format::storage_role::leaf_gradient,
                   .address = storage_address(gradient),
                   .bytes = storage_address(leaf)});
}

void record_cast(recorder& to, const void* source, const void* copy) noexcept {
  if (!is_confirmed() || !is_leaf(source) || !is_on_gpu(source) || !is_on_gpu(copy)) return;
  if (storage_address(copy) == storage_address(source)) return;
  const storage_event event{.role = format::storage_role::cast,
                            .address = storage_address(copy),
                            .bytes = storage_address(source),
                            .flags = requires_grad(source) ? format::storage_trainable : 0};
  to.storages({&event, 1});
}

}  // namespace memtrace::autograd
