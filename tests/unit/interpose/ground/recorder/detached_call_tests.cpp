// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/recorder/detached_call.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

#include "interpose/ground/base/sanitizer.h"
#include "tests/unit/catch.h"

using namespace memtrace;

namespace {

// As the recorder's own thread makes it.
template <class Ask>
int made_in_thread(Ask ask) {
  int answer = 0;
  std::thread thread([&] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    detached_call::allow();
    answer = detached_call::make(ask);
  });
  thread.join();
  return answer;
}

bool is_child(pid_t parent) {
  return syscall(SYS_getpid) != parent;
}

}  // namespace

TEST_CASE("a detached call is made by another process, once, and answers") {
  const pid_t self = getpid();
  int calls = 0;
  bool detached = false;
  const int answer = made_in_thread([&]() noexcept {
    ++calls;
    detached = is_child(self);
    return 7;
  });
  CHECK(answer == 7);
  CHECK(calls == 1);
  CHECK(detached == !is_sanitized);
}

TEST_CASE("a detached call whose process is killed is made again, not taken for done") {
  const pid_t self = getpid();
  int calls = 0;
  const int answer = made_in_thread([&]() noexcept {
    ++calls;
    if (is_child(self)) syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
    return 7;
  });
  CHECK(answer == 7);
  CHECK(calls == (is_sanitized ? 1 : 2));
}
