// SPDX-License-Identifier: Apache-2.0
//
// Reading at addresses that may not be addresses: the kernel is asked to copy the bytes, and
// answers with an error where a load would crash. By process_vm_readv; where a sandbox forbids
// that or would kill for it, through a pipe, opened then. An object reads the process that made it,
// so it is not to be kept across a fork.
#pragma once

#include <sys/types.h>
#include <cstddef>
#include <cstdint>

namespace memtrace::autograd {

class readable_memory {
 public:
  readable_memory() noexcept;  // asks nothing of the kernel where process_vm_readv works
  ~readable_memory();
  readable_memory(const readable_memory&) = delete;
  readable_memory& operator=(const readable_memory&) = delete;

  // By one call of the kernel, and without a pipe.
  [[nodiscard]] bool is_direct() const noexcept { return is_direct_; }

  // At most 4096 bytes.
  [[nodiscard]] bool copy(std::uint64_t from, void* to, std::size_t bytes) const noexcept;
  // 0 where nothing can be read.
  [[nodiscard]] std::uint64_t word(std::uint64_t at) const noexcept;

 private:
  [[nodiscard]] bool copy_through_pipe(std::uint64_t from, void* to,
                                       std::size_t bytes) const noexcept;

  const pid_t self_;
  const bool is_direct_;
  int ends_[2] = {-1, -1};  // of the pipe; -1: not needed
};

}  // namespace memtrace::autograd
