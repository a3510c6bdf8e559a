// SPDX-License-Identifier: Apache-2.0
//
// A call of at::autocast::cached_cast in the calling thread. What is allocated inside is the copy.
#pragma once

namespace memtrace::autograd {

class [[nodiscard]] cast_mark {
 public:
  // `records`: whether the thread records gradients. Inside, PyTorch does in any case, so that a copy
  // of a weight that is made without serves where gradients are recorded, too.
  explicit cast_mark(bool records) noexcept
      : outer_(innermost), records_(outer_ == nullptr ? records : outer_->records_) {
    innermost = this;
  }
  ~cast_mark() { innermost = outer_; }
  cast_mark(const cast_mark&) = delete;
  cast_mark& operator=(const cast_mark&) = delete;

  // Something was allocated since; else the copy comes from autocast's cache.
  [[nodiscard]] bool has_allocated() const noexcept { return has_allocated_; }

  [[nodiscard]] static bool is_active() noexcept { return innermost != nullptr; }
  // Of the program around it, while one is active.
  [[nodiscard]] static bool program_records() noexcept { return innermost->records_; }
  static void allocated() noexcept {
    if (innermost != nullptr) innermost->has_allocated_ = true;
  }

 private:
  static inline thread_local constinit cast_mark* innermost
      __attribute__((tls_model("initial-exec"))) = nullptr;

  cast_mark* const outer_;
  const bool records_;
  bool has_allocated_ = false;
};

}  // namespace memtrace::autograd
