// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/base/found_once.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "interpose/ground/base/thread_end.h"
#include "tests/unit/catch.h"

namespace {

std::atomic<bool> is_finding{false};
std::atomic<bool> may_go_on{false};
std::atomic<pid_t> patient{0};  // who finds out slowly

int find_slowly() noexcept {
  if (getpid() == patient.load()) {
    is_finding = true;
    while (!may_go_on) std::this_thread::yield();
  }
  return 7;
}

constinit memtrace::found_once<int, find_slowly> found;

// The guard of a function-local static, which found_once has none of, would hold the child for
// ever.
TEST_CASE("a child that is forked while another thread finds it out finds it out itself") {
  patient = getpid();
  std::thread other([] { CHECK(found.get() == 7); });
  while (!is_finding) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(found.get() == 7 ? 0 : 1);
  }
  may_go_on = true;
  other.join();
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  const int* const first = &found.get();
  CHECK(&found.get() == first);
}

std::atomic<int> ended{0};
constinit memtrace::thread_end end{[](void* value) { ended += *static_cast<int*>(value); }};

TEST_CASE("what a thread has set is handed over when it ends, and nothing of others") {
  int one = 1, ten = 10;
  ended = 0;
  bool is_set[] = {false, false}, is_possible = false;
  std::thread first([&] { is_set[0] = end.set(&one); });
  std::thread second([&] { is_set[1] = end.set(&ten); });
  std::thread third([&] { is_possible = end.is_possible(); });
  first.join();
  second.join();
  third.join();
  CHECK(is_set[0]);
  CHECK(is_set[1]);
  CHECK(is_possible);
  CHECK(ended == 11);
}

}  // namespace
