// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/base/own_heap.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "interpose/ground/base/sanitizer.h"
#include "tests/unit/catch.h"

namespace memtrace {
namespace {

struct piece {
  unsigned char* memory;
  std::size_t bytes;
  unsigned char filled_with;
};

bool is_whole(const piece& one) {
  for (std::size_t i = 0; i < one.bytes; ++i) {
    if (one.memory[i] != one.filled_with) return false;
  }
  return true;
}

piece make(std::size_t bytes, unsigned char filled_with) {
  auto* const memory = static_cast<unsigned char*>(own_heap::allocate(bytes));
  if (memory != nullptr) std::memset(memory, filled_with, bytes);
  return {memory, bytes, filled_with};
}

// Sizes as they come: many small ones, some large.
std::size_t size_of(unsigned number) {
  return number % 97 == 0 ? 100'000 + number : number * 7919u % 3000;
}

// Makes and frees in an order of its own; how many were not what was written into them.
unsigned churn(unsigned seed, unsigned rounds) {
  std::vector<piece> held;
  unsigned wrong = 0;
  for (unsigned i = 0; i < rounds; ++i) {
    held.push_back(make(size_of(seed + i), static_cast<unsigned char>(seed + i)));
    const piece& added = held.back();
    wrong += added.memory == nullptr || reinterpret_cast<std::uintptr_t>(added.memory) % 16 != 0;
    if (held.size() < 50) continue;
    const std::size_t out = (seed + i) * 31u % held.size();
    wrong += !is_whole(held[out]);
    own_heap::release(held[out].memory);
    held[out] = held.back();
    held.pop_back();
  }
  for (const piece& one : held) {
    wrong += !is_whole(one);
    own_heap::release(one.memory);
  }
  return wrong;
}

std::uint64_t mapped_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t pages = 0;
  statm >> pages;
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

volatile sig_atomic_t handled = 0;
volatile sig_atomic_t wrong_in_handler = 0;

void use_the_heap(int) {
  const piece one = make(500, 7);
  if (one.memory == nullptr || !is_whole(one)) wrong_in_handler = 1;
  own_heap::release(one.memory);
  handled = handled + 1;
}

// In a child, which the alarm ends where it waits for itself. Exit status 0: nothing was wrong.
[[noreturn]] void churn_under_signals() {
  alarm(60);
  struct sigaction action {};
  action.sa_handler = &use_the_heap;
  sigaction(SIGVTALRM, &action, nullptr);
  sigevent how{};
  how.sigev_signo = SIGVTALRM;
  timer_t timer{};
  const itimerspec often{{0, 200'000}, {0, 200'000}};
  if (timer_create(CLOCK_MONOTONIC, &how, &timer) != 0 ||
      timer_settime(timer, 0, &often, nullptr) != 0) {
    _exit(2);
  }
  unsigned wrong = 0;
  while (handled < 500) wrong += churn(11, 500);
  _exit(wrong == 0 && wrong_in_handler == 0 ? 0 : 1);
}

std::atomic<bool> fork_is_slow{false};
std::atomic<bool> fork_is_under_way{false};

void be_slow() {
  if (!fork_is_slow) return;
  fork_is_under_way = true;
  usleep(1'500'000);
}

// Handlers run before a fork from the last one registered to the first: be_slow while the heap is
// held.
void load_behind_a_slow_handler() {
  static const int registered = pthread_atfork(&be_slow, nullptr, nullptr);
  REQUIRE(registered == 0);
  own_heap::load();
}

}  // namespace

TEST_CASE("the own heap: what is written stays until it is released") {
  std::atomic<unsigned> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned seed : {1u, 1000u, 77'777u, 123'456u}) {
    threads.emplace_back([&wrong, seed] { wrong += churn(seed, 20'000); });
  }
  for (std::thread& one : threads) one.join();
  CHECK(wrong == 0);
  own_heap::release(nullptr);
}

TEST_CASE("the own heap uses what was released again, and gives large pieces back") {
  CHECK(churn(5, 20'000) == 0);
  const std::uint64_t before = mapped_bytes();
  CHECK(churn(5, 20'000) == 0);
  CHECK(mapped_bytes() <= before + (1u << 20));  // 20,000 pieces of 1,500 bytes are 30 MB

  const piece large = make(256u << 20, 1);
  REQUIRE(large.memory != nullptr);
  const std::uint64_t with_it = mapped_bytes();
  CHECK(with_it >= before + (256u << 20));
  own_heap::release(large.memory);
  CHECK(mapped_bytes() <= with_it - (256u << 20));
}

// Not with sanitizers, which call a handler late.
TEST_CASE("a signal handler on top of a call of the own heap does not wait for it") {
  if (is_sanitized) {
    SUCCEED("not with a sanitizer");
    return;
  }
  const pid_t child = fork();
  if (child == 0) churn_under_signals();
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(!WIFSIGNALED(status));
  CHECK(status == 0);
}

TEST_CASE("the own heap says null where there is no memory") {
  CHECK(own_heap::allocate(~std::size_t{0}) == nullptr);
  CHECK(own_heap::allocate(~std::size_t{0} / 2) == nullptr);
  CHECK(own_heap::allocate(std::size_t{1} << 60) == nullptr);
}

// Not with sanitizers: a child of a process with threads may hang in theirs.
TEST_CASE("a child forked while other threads use the own heap has it whole") {
  if (is_sanitized) {
    SUCCEED("not with a sanitizer");
    return;
  }
  load_behind_a_slow_handler();
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (unsigned seed : {3u, 4u}) {
    threads.emplace_back([&stop, seed] {
      while (!stop) (void)churn(seed, 500);
    });
  }
  unsigned wrong = 0;
  for (int child = 0; child < 200; ++child) {
    const pid_t forked = fork();
    if (forked == 0) {
      alarm(10);
      _exit(churn(9, 200) == 0 ? 0 : 1);
    }
    int status = -1;
    waitpid(forked, &status, 0);
    wrong += status != 0;
  }
  stop = true;
  for (std::thread& one : threads) one.join();
  CHECK(wrong == 0);
}

TEST_CASE("a slow fork makes other threads wait, and only a child without handlers goes without") {
  if (is_sanitized) {
    SUCCEED("not with a sanitizer");
    return;
  }
  load_behind_a_slow_handler();
  own_heap::release(own_heap::allocate(100));
  fork_is_slow = true;
  int of_fork = -1;
  std::thread forks([&of_fork] {
    const pid_t forked = fork();
    if (forked == 0) _exit(own_heap::allocate(100) != nullptr ? 0 : 1);
    waitpid(forked, &of_fork, 0);
  });
  while (!fork_is_under_way) usleep(1000);
  const auto made = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, 0));
  if (made == 0) {
    alarm(10);
    _exit(own_heap::allocate(100) == nullptr ? 0 : 1);
  }
  void* const waited_for = own_heap::allocate(100);
  CHECK(waited_for != nullptr);
  own_heap::release(waited_for);
  int of_clone = -1;
  waitpid(made, &of_clone, 0);
  forks.join();
  fork_is_slow = false;
  CHECK(of_clone == 0);
  CHECK(of_fork == 0);
}

}  // namespace memtrace
