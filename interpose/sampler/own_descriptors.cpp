// SPDX-License-Identifier: Apache-2.0
#include "interpose/sampler/own_descriptors.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interpose/sampler/kernel_files.h"

namespace memtrace::sampler {
namespace {

// Numbers of Linux 5.9, the same on all architectures; older headers lack them.
constexpr long close_range_call = 436;
constexpr unsigned close_range_unshare = 2;

}  // namespace

bool leave_shared_descriptors() noexcept {
  if (syscall(close_range_call, 0u, ~0u, close_range_unshare) == 0) return true;
  // Before Linux 5.9: a copy of the table, of which everything is closed.
  if (unshare(CLONE_FILES) != 0) return false;
  for_each_number("/proc/thread-self/fd",
                  [](std::uint64_t number) { syscall(SYS_close, static_cast<int>(number)); });
  return true;
}

}  // namespace memtrace::sampler
