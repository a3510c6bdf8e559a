// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/autograd/readable_memory.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "interpose/ground/base/found_once.h"
#include "interpose/ground/base/sandbox.h"

namespace memtrace::autograd {

namespace {

bool copy_by_call(pid_t self, std::uint64_t from, void* to, std::size_t bytes) noexcept {
  const iovec local{to, bytes};
  const iovec remote{reinterpret_cast<void*>(from), bytes};
  // Where the bytes run into an unmapped page only those before it arrive.
  return process_vm_readv(self, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

bool call_works() noexcept {
  const std::uint64_t probe = 0x6d656d7472616365;
  std::uint64_t copied = 0;
  return copy_by_call(getpid(), reinterpret_cast<std::uint64_t>(&probe), &copied, sizeof copied) &&
         copied == probe;
}

bool may_call() noexcept {
  return sandbox::lets_pass(&call_works);
}
constinit found_once<bool, may_call> may_be_called;

}  // namespace

// Called again, because a filter may have been set since then: one that answers with an error.
readable_memory::readable_memory() noexcept
    : self_(getpid()), is_direct_(may_be_called.get() && call_works()) {
  if (is_direct_) return;
  if (pipe2(ends_, O_CLOEXEC | O_NONBLOCK) != 0) ends_[0] = ends_[1] = -1;
}

readable_memory::~readable_memory() {
  if (ends_[0] < 0) return;
  close(ends_[0]);
  close(ends_[1]);
}

bool readable_memory::copy(std::uint64_t from, void* to, std::size_t bytes) const noexcept {
  return is_direct_ ? copy_by_call(self_, from, to, bytes) : copy_through_pipe(from, to, bytes);
}

bool readable_memory::copy_through_pipe(std::uint64_t from, void* to,
                                        std::size_t bytes) const noexcept {
  const auto wanted = static_cast<ssize_t>(bytes);
  const ssize_t written = write(ends_[1], reinterpret_cast<const void*>(from), bytes);
  if (written <= 0) return false;
  return read(ends_[0], to, bytes) == wanted && written == wanted;
}

std::uint64_t readable_memory::word(std::uint64_t at) const noexcept {
  std::uint64_t value = 0;
  return copy(at, &value, sizeof value) ? value : 0;
}

}  // namespace memtrace::autograd
