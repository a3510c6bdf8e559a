// SPDX-License-Identifier: Apache-2.0
#include "interpose/census/torch_storages.h"

#include "interpose/agent/tensor_storages.h"
#include "interpose/autograd/class_name.h"
#include "interpose/autograd/tensor_layout.h"
#include "interpose/census/graph_walk.h"

namespace memtrace::census {

using python_stack::address;

namespace {

const void* impl_of(address tensor) noexcept {
  return autograd::impl_of(reinterpret_cast<const void*>(tensor));
}

}  // namespace

bool read_impl(const void* impl, seen_storage& seen) noexcept {
  if (!autograd::is_defined(impl) || !autograd::is_cuda(impl)) return false;
  seen.address = autograd::storage_address(impl);
  if (seen.address == 0) return false;
  seen.bytes = autograd::storage_bytes(impl);
  seen.used_bytes = agent::tensor_bytes(impl);
  seen.has_graph = !autograd::is_leaf(impl);
  return true;
}

torch_storages::torch_storages(bool is_quiet) noexcept : is_quiet_(is_quiet) {}
torch_storages::~torch_storages() = default;

bool torch_storages::is_tensor(address object) const noexcept {
  return agent::is_tensor(reinterpret_cast<agent::py>(object));
}

bool torch_storages::has_graph(address tensor) const noexcept {
  const void* const impl = impl_of(tensor);
  return impl != nullptr && autograd::is_defined(impl) && !autograd::is_leaf(impl);
}

bool torch_storages::read_tensor(address tensor, seen_storage& seen) const noexcept {
  const void* const impl = impl_of(tensor);
  if (impl == nullptr || !read_impl(impl, seen)) return false;
  if (tensor_functions_ == nullptr) tensor_functions_ = autograd::functions_of(impl);
  return true;
}

bool torch_storages::read_gradient(address tensor, seen_storage& seen) const noexcept {
  const void* const impl = impl_of(tensor);
  if (!is_quiet_ || impl == nullptr || !autograd::is_defined(impl)) return false;
  const void* const gradient = autograd::gradient_of(impl);
  return gradient != nullptr && read_impl(gradient, seen);
}

bool torch_storages::is_storage(address) const noexcept {
  return false;
}

bool torch_storages::read_storage(address, seen_storage&) const noexcept {
  return false;
}

void torch_storages::walk_graphs(search& found) {
  if (!is_quiet_ || tensor_functions_ == nullptr) return;
  if (graphs_ == nullptr) {
    graphs_ = std::make_unique<graph_walk>(*find_python_objects(), found, tensor_functions_);
  }
  graphs_->from_found_tensors();
}

}  // namespace memtrace::census
