// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/base/own_descriptors.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "interpose/ground/base/found_once.h"
#include "interpose/ground/base/kernel_files.h"
#include "interpose/ground/base/sandbox.h"

namespace memtrace {
namespace {

// Numbers of Linux 5.9, the same on all architectures; older headers lack them.
constexpr long close_range_call = 436;
constexpr unsigned close_range_unshare = 2;

enum class way : std::uint8_t { none, by_range, by_copy };

way find_way() noexcept {
  // Closes nothing.
  const auto by_range = []() noexcept {
    return syscall(close_range_call, ~0u, ~0u, close_range_unshare) == 0;
  };
  const auto by_copy = []() noexcept { return unshare(CLONE_FILES) == 0; };
  if (sandbox::lets_pass(by_range)) return way::by_range;
  return sandbox::lets_pass(by_copy) ? way::by_copy : way::none;
}

constinit found_once<way, find_way> the_way;

}  // namespace

bool leave_shared_descriptors(int kept) noexcept {
  switch (the_way.get()) {
    case way::by_range: {
      const auto above = static_cast<unsigned>(kept + 1);
      if (syscall(close_range_call, above, ~0u, close_range_unshare) != 0) return false;
      if (kept > 0) syscall(close_range_call, 0u, above - 2, 0u);
      return true;
    }
    case way::by_copy:  // before Linux 5.9
      if (unshare(CLONE_FILES) != 0) return false;
      for_each_number("/proc/thread-self/fd", [kept](std::uint64_t number) {
        if (static_cast<int>(number) != kept) syscall(SYS_close, static_cast<int>(number));
      });
      return true;
    case way::none:
      break;
  }
  return false;
}

}  // namespace memtrace
