// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/heap_scan/torch_storages.h"

#include "interpose/sight/autograd/class_name.h"
#include "interpose/sight/autograd/tensor_layout.h"
#include "interpose/sight/autograd/tensor_storages.h"
#include "interpose/sight/heap_scan/graph_walk.h"

namespace memtrace::heap_scan {

using python_stack::address;

namespace {

const void* impl_of(address tensor) noexcept {
  return autograd::impl_of(reinterpret_cast<const void*>(tensor));
}

}  // namespace

tensor_shape shape_of(const void* impl, const seen_storage& seen) noexcept {
  tensor_shape found;
  const std::uint32_t count = autograd::dimensions(impl);
  if (seen.used_bytes != seen.bytes || count > found.sizes.size()) return found;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t size = autograd::size(impl, i);
    if (size > UINT32_MAX) return {};
    found.sizes[i] = static_cast<std::uint32_t>(size);
  }
  found.dimensions = static_cast<std::uint8_t>(count);
  return found;
}

bool read_impl(const void* impl, seen_storage& seen) noexcept {
  if (!autograd::is_defined(impl) || !autograd::is_cuda(impl)) return false;
  seen.address = autograd::storage_address(impl);
  if (seen.address == 0) return false;
  seen.bytes = autograd::storage_bytes(impl);
  seen.used_bytes = autograd::tensor_bytes(impl);
  seen.shape = shape_of(impl, seen);
  seen.has_graph = !autograd::is_leaf(impl);
  return true;
}

torch_storages::torch_storages(const autograd::readable_memory& memory, bool reads_gradients,
                               bool reads_graphs) noexcept
    : memory_(memory), reads_gradients_(reads_gradients), reads_graphs_(reads_graphs) {}
torch_storages::~torch_storages() = default;

bool torch_storages::is_tensor(address object) const noexcept {
  return autograd::is_tensor(reinterpret_cast<python_stack::py>(object));
}

bool torch_storages::has_graph(address tensor) const noexcept {
  const void* const impl = impl_of(tensor);
  return impl != nullptr && autograd::is_defined(impl) && !autograd::is_leaf(impl);
}

bool torch_storages::read_tensor(address tensor, seen_storage& seen) const noexcept {
  const void* const impl = impl_of(tensor);
  if (impl == nullptr || !read_impl(impl, seen)) return false;
  if (tensor_functions_ == nullptr) learn(impl);
  return true;
}

bool torch_storages::read_gradient(address tensor, seen_storage& seen) const noexcept {
  const void* const impl = impl_of(tensor);
  if (!reads_gradients_ || impl == nullptr || !autograd::is_defined(impl)) return false;
  const void* const gradient = autograd::gradient_of(impl);
  return gradient != nullptr && read_impl(gradient, seen);
}

bool torch_storages::is_storage(address object) const noexcept {
  for (address type = type_of(object); type != 0; type = load<address>(type, offset::base)) {
    if (full_name_of_type(type) == "torch._C.StorageBase") return true;
  }
  return false;
}

// The object has the StorageImpl's address behind its header; in earlier versions behind a flag.
bool torch_storages::read_storage(address storage, seen_storage& seen) const noexcept {
  for (const std::size_t place : {16, 24}) {
    const std::uint64_t word = load<std::uint64_t>(storage, place);
    if (storage_functions_ == 0 || memory_.word(word) != storage_functions_) continue;
    const auto* const impl = reinterpret_cast<const void*>(word);
    if (!autograd::is_cuda_memory(impl)) return false;
    seen.address = autograd::address_in(impl);
    seen.bytes = seen.used_bytes = autograd::bytes_in(impl);
    return seen.address != 0;
  }
  return false;
}

void torch_storages::learn(const void* impl) const noexcept {
  tensor_functions_ = autograd::functions_of(impl);
  const void* const storage = autograd::storage_of(impl);
  if (!autograd::is_cuda_memory(storage)) return;
  storage_functions_ = reinterpret_cast<std::uint64_t>(autograd::functions_of(storage));
}

void torch_storages::walk_graphs(search& found) {
  if (!reads_graphs_ || tensor_functions_ == nullptr) {
    left_out_graphs_ = left_out_graphs_ || found.tensors_with_graphs().size() > 0;
    return;
  }
  if (graphs_ == nullptr) {
    graphs_ = std::make_unique<graph_walk>(found, memory_, tensor_functions_);
  }
  graphs_->from_found_tensors();
}

}  // namespace memtrace::heap_scan
