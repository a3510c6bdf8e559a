// SPDX-License-Identifier: Apache-2.0
//
// How a heap scan asks which objects stand for memory on a GPU. PyTorch's answer is
// torch_storages.h.
#pragma once

#include <array>
#include <cstdint>

#include "interpose/sight/python/layout.h"

namespace memtrace::heap_scan {

// The sizes of a tensor that uses all of its memory; none of one that does not, or has more of them.
struct tensor_shape {
  std::uint8_t dimensions = 0;
  std::array<std::uint32_t, 5> sizes = {};
};

struct seen_storage {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t used_bytes = 0;  // by the tensor that was read
  bool has_graph = false;        // the tensor has a grad_fn
  tensor_shape shape;
};

class search;

class storage_reader {
 public:
  // By any object of a type.
  [[nodiscard]] virtual bool is_tensor(python_stack::address object) const noexcept = 0;
  [[nodiscard]] virtual bool is_storage(python_stack::address object) const noexcept = 0;
  // On whatever device it is.
  [[nodiscard]] virtual bool has_graph(python_stack::address tensor) const noexcept = 0;
  // False: it has no memory on a GPU.
  [[nodiscard]] virtual bool read_tensor(python_stack::address tensor,
                                         seen_storage& seen) const noexcept = 0;
  [[nodiscard]] virtual bool read_gradient(python_stack::address tensor,
                                           seen_storage& seen) const noexcept = 0;
  [[nodiscard]] virtual bool read_storage(python_stack::address storage,
                                          seen_storage& seen) const noexcept = 0;
  // Finds what the graphs of the tensors keep that were found since the last call.
  virtual void walk_graphs(search& found) = 0;

 protected:
  ~storage_reader() = default;
};

}  // namespace memtrace::heap_scan
