// SPDX-License-Identifier: Apache-2.0
//
// PyTorch's tensors and storages on CUDA devices, read without running anything. Needs the GIL and
// tensor_layout.h's confirmation.
#pragma once

#include "interpose/census/storage_reader.h"

namespace memtrace::census {

class torch_storages final : public storage_reader {
 public:
  // Gradients that another thread may be replacing right now are not looked at.
  explicit torch_storages(bool reads_gradients) noexcept : reads_gradients_(reads_gradients) {}

  [[nodiscard]] bool is_tensor(python_stack::address object) const noexcept override;
  [[nodiscard]] bool is_storage(python_stack::address object) const noexcept override;
  [[nodiscard]] bool read_tensor(python_stack::address tensor,
                                 seen_storage& seen) const noexcept override;
  [[nodiscard]] bool read_gradient(python_stack::address tensor,
                                   seen_storage& seen) const noexcept override;
  [[nodiscard]] bool read_storage(python_stack::address storage,
                                  seen_storage& seen) const noexcept override;

 private:
  const bool reads_gradients_;
};

}  // namespace memtrace::census
