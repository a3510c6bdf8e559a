// SPDX-License-Identifier: Apache-2.0
#include "interpose/autograd/readable_memory.h"

#include <fcntl.h>
#include <unistd.h>

namespace memtrace::autograd {

readable_memory::readable_memory() noexcept {
  if (pipe2(ends_, O_CLOEXEC | O_NONBLOCK) != 0) ends_[0] = ends_[1] = -1;
}

readable_memory::~readable_memory() {
  if (ends_[0] < 0) return;
  close(ends_[0]);
  close(ends_[1]);
}

bool readable_memory::copy(std::uint64_t from, void* to, std::size_t bytes) const noexcept {
  const auto wanted = static_cast<ssize_t>(bytes);
  const ssize_t written = write(ends_[1], reinterpret_cast<const void*>(from), bytes);
  if (written <= 0) return false;
  // Where the bytes run into an unmapped page only those before it arrive.
  return read(ends_[0], to, bytes) == wanted && written == wanted;
}

std::uint64_t readable_memory::word(std::uint64_t at) const noexcept {
  std::uint64_t value = 0;
  return copy(at, &value, sizeof value) ? value : 0;
}

}  // namespace memtrace::autograd
