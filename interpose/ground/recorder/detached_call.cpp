// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/recorder/detached_call.h"

#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "interpose/ground/base/sanitizer.h"

namespace memtrace {

int detached_call::run_child(void* argument) {
  auto& one = *static_cast<any_job*>(argument);
  one.run(one);
  syscall(SYS_exit_group, 0);
  return 0;
}

void detached_call::in_child(any_job& one) noexcept {
  if (is_sanitized) return;
  constexpr std::size_t stack_bytes = 16 << 10;
  alignas(16) unsigned char stack[stack_bytes];  // of this thread, which stands still meanwhile
  const pid_t child = clone(&run_child, stack + stack_bytes, CLONE_VM | CLONE_VFORK, &one);
  if (child < 0) return;
  int status = 0;
  while (waitpid(child, &status, __WALL) < 0 && errno == EINTR) {
  }
}

}  // namespace memtrace
