// SPDX-License-Identifier: Apache-2.0
#include "interpose/census/torch_storages.h"

#include "interpose/agent/tensor_storages.h"
#include "interpose/autograd/tensor_layout.h"

namespace memtrace::census {

namespace {

using python_stack::address;

bool read(const void* impl, seen_storage& seen) noexcept {
  if (impl == nullptr || !autograd::is_defined(impl) || !autograd::is_cuda(impl)) return false;
  seen.address = autograd::storage_address(impl);
  if (seen.address == 0) return false;
  seen.bytes = autograd::storage_bytes(impl);
  seen.used_bytes = agent::tensor_bytes(impl);
  seen.has_graph = !autograd::is_leaf(impl);
  return true;
}

}  // namespace

bool torch_storages::is_tensor(address object) const noexcept {
  return agent::is_tensor(reinterpret_cast<agent::py>(object));
}

bool torch_storages::read_tensor(address tensor, seen_storage& seen) const noexcept {
  return read(autograd::impl_of(reinterpret_cast<const void*>(tensor)), seen);
}

bool torch_storages::read_gradient(address tensor, seen_storage& seen) const noexcept {
  if (!reads_gradients_) return false;
  const void* const impl = autograd::impl_of(reinterpret_cast<const void*>(tensor));
  return impl != nullptr && autograd::is_defined(impl) && read(autograd::gradient_of(impl), seen);
}

bool torch_storages::is_storage(address) const noexcept {
  return false;
}

bool torch_storages::read_storage(address, seen_storage&) const noexcept {
  return false;
}

}  // namespace memtrace::census
