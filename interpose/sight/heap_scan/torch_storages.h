// SPDX-License-Identifier: Apache-2.0
//
// PyTorch's tensors and storages on CUDA devices, read without running anything. Needs the GIL and
// tensor_layout.h's confirmation.
#pragma once

#include <memory>

#include "interpose/sight/autograd/readable_memory.h"
#include "interpose/sight/heap_scan/storage_reader.h"

namespace memtrace::heap_scan {

class graph_walk;

// Of a TensorImpl whose memory and bytes are in `seen`.
[[nodiscard]] tensor_shape shape_of(const void* impl, const seen_storage& seen) noexcept;

// For a TensorImpl that is not null. False: it has no memory on a GPU.
[[nodiscard]] bool read_impl(const void* impl, seen_storage& seen) noexcept;

class torch_storages final : public storage_reader {
 public:
  // Gradients and graphs are read only where no other thread may be changing them right now.
  torch_storages(const autograd::readable_memory& memory, bool reads_gradients,
                 bool reads_graphs) noexcept;
  ~torch_storages();

  [[nodiscard]] bool is_tensor(python_stack::address object) const noexcept override;
  [[nodiscard]] bool is_storage(python_stack::address object) const noexcept override;
  [[nodiscard]] bool has_graph(python_stack::address tensor) const noexcept override;
  [[nodiscard]] bool read_tensor(python_stack::address tensor,
                                 seen_storage& seen) const noexcept override;
  [[nodiscard]] bool read_gradient(python_stack::address tensor,
                                   seen_storage& seen) const noexcept override;
  [[nodiscard]] bool read_storage(python_stack::address storage,
                                  seen_storage& seen) const noexcept override;
  void walk_graphs(search& found) override;
  // Some tensors have a graph, and what it keeps was not looked at.
  [[nodiscard]] bool has_left_out_graphs() const noexcept { return left_out_graphs_; }

 private:
  const autograd::readable_memory& memory_;
  const bool reads_gradients_;
  const bool reads_graphs_;
  bool left_out_graphs_ = false;
  void learn(const void* impl) const noexcept;

  // Virtual functions of an ordinary tensor, and of its storage where that tells its device.
  mutable const void* tensor_functions_ = nullptr;
  mutable std::uint64_t storage_functions_ = 0;
  std::unique_ptr<graph_walk> graphs_;
};

}  // namespace memtrace::heap_scan
