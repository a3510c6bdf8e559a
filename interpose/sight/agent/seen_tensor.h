// SPDX-License-Identifier: Apache-2.0
//
// A tensor as it was when it was looked at, and whether it still is: the same object of the same
// class with the same memory. For a wrapper (DTensor, quantised tensors) the same holds of the
// tensors that it is made of. Only what a tensor that lives now points to is followed: asking costs
// its own cache lines, and the attributes of a wrapper. Needs the GIL, and tensor_layout.h's
// confirmation.
#pragma once

#include <memory>
#include <vector>

#include "interpose/sight/agent/short_names.h"

namespace memtrace::agent {

class seen_tensor {
 public:
  explicit seen_tensor(py tensor, int depth = autograd::deepest_wrapper);

  [[nodiscard]] bool is(py now) const {
    if (now != object_ || autograd::type_of(now) != type_) return false;
    const void* const storage = autograd::storage_of(autograd::impl_of(now));
    if (storage != storage_) return false;
    if (storage != nullptr && autograd::address_in(storage) != address_) return false;
    return parts_ == nullptr || has_its_parts(now);
  }

  // As it was.
  [[nodiscard]] py object() const noexcept { return object_; }
  [[nodiscard]] bool is_wrapper() const noexcept { return parts_ != nullptr; }
  // The addresses of its memory on a GPU, and of its parts'.
  void add_addresses(std::vector<std::uint64_t>& to) const;

 private:
  struct part;
  [[nodiscard]] bool has_its_parts(py now) const;

  py object_;
  py type_;
  const void* storage_;
  std::uint64_t address_;
  bool is_on_gpu_;
  std::shared_ptr<const std::vector<part>> parts_;  // null: no wrapper
};

}  // namespace memtrace::agent
