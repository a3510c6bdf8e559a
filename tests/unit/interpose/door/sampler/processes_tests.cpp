// SPDX-License-Identifier: Apache-2.0
//
// Against this very process and children of its own.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "interpose/door/sampler/child_processes.h"
#include "interpose/door/sampler/process_memory.h"
#include "interpose/ground/base/kernel_files.h"
#include "interpose/ground/base/own_descriptors.h"
#include "interpose/ground/base/sanitizer.h"
#include "interpose/ground/recorder/detached_call.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::sampler;

namespace {

constexpr std::size_t mebibyte = 1 << 20;

class mapping {
 public:
  explicit mapping(std::size_t bytes)
      : bytes_(bytes),
        at_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~mapping() { munmap(at_, bytes_); }
  mapping(const mapping&) = delete;
  mapping& operator=(const mapping&) = delete;
  void touch() const { std::memset(at_, 1, bytes_); }

 private:
  std::size_t bytes_;
  void* at_;
};

// A child that runs `body` and then waits until it is killed.
class child {
 public:
  template <typename Body>
  explicit child(Body body) {
    int ready[2];
    REQUIRE(pipe(ready) == 0);
    process_ = fork();
    if (process_ == 0) {
      body();
      (void)!write(ready[1], "x", 1);
      for (;;) pause();
    }
    char byte;
    REQUIRE(read(ready[0], &byte, 1) == 1);
    close(ready[0]);
    close(ready[1]);
  }
  ~child() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;
  [[nodiscard]] std::uint64_t id() const { return static_cast<std::uint64_t>(process_); }

 private:
  pid_t process_;
};

bool contains(std::span<const std::uint64_t> all, std::uint64_t one) {
  return std::ranges::find(all, one) != all.end();
}

}  // namespace

TEST_CASE("GIVEN memory that is touched WHEN asked THEN the process has so much more of it") {
  std::array<char, 16384> buffer;
  const mapping memory(64 * mebibyte);
  const auto before = resident_of(this_process, buffer);
  const auto shares_before = proportional_of(this_process, buffer);
  REQUIRE(before);
  REQUIRE(shares_before);
  memory.touch();
  const auto after = resident_of(this_process, buffer);
  const auto shares_after = proportional_of(this_process, buffer);
  CHECK(after->resident - before->resident >= 60 * mebibyte);
  CHECK(after->kept - before->kept >= 60 * mebibyte);
  CHECK(*shares_after - *shares_before >= 60 * mebibyte);
  CHECK(after->mapped >= after->resident);
}

TEST_CASE(
    "GIVEN a child that shares its parent's memory WHEN it writes there THEN only its share "
    "grows") {
  std::array<char, 16384> buffer;
  const mapping memory(64 * mebibyte);
  memory.touch();
  const child shares([] {});
  const child copies([&] { memory.touch(); });
  const auto shared = resident_of(shares.id(), buffer);
  const auto copied = resident_of(copies.id(), buffer);
  REQUIRE(shared);
  REQUIRE(copied);
  CHECK(shared->kept >= 60 * mebibyte);
  CHECK(copied->kept >= 60 * mebibyte);
  // Two processes are left that share: half each.
  CHECK(*proportional_of(copies.id(), buffer) - *proportional_of(shares.id(), buffer) >=
        28 * mebibyte);
}

TEST_CASE(
    "GIVEN a child of a child WHEN processes are looked for THEN both are found, until they end") {
  std::array<char, 16384> buffer;
  child_processes below;
  std::uint64_t ended = 0;
  {
    const child parent([] {
      if (fork() == 0) {
        for (;;) pause();
      }
    });
    below.find(buffer);
    ended = parent.id();
    CHECK(below.has_new());
    CHECK(contains(below.found(), ended));
    const auto others = below.found();
    const auto grandchild = std::ranges::find_if(others, [&](std::uint64_t one) {
      return getpgid(static_cast<pid_t>(one)) == getpgrp() && one != ended;
    });
    REQUIRE(grandchild != others.end());
    kill(static_cast<pid_t>(*grandchild), SIGKILL);
  }
  below.find(buffer);
  CHECK_FALSE(below.has_new());
  CHECK_FALSE(contains(below.found(), ended));
}

TEST_CASE("GIVEN a disk that is slow WHEN the recorder writes THEN its helper is no worker") {
  if (is_sanitized) {
    SUCCEED("there is no helper with a sanitizer");
    return;
  }
  std::array<char, 16384> buffer;
  std::atomic<pid_t> helper{0};
  std::atomic<bool> stop{false};
  std::atomic<pid_t> thread_id{0};
  std::thread writer([&] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    thread_id = static_cast<pid_t>(syscall(SYS_gettid));
    detached_call::allow();
    (void)detached_call::make([&]() noexcept {
      helper = static_cast<pid_t>(syscall(SYS_getpid));
      while (!stop) syscall(SYS_sched_yield);
      return 0;
    });
  });
  while (helper == 0) usleep(1000);
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/children", thread_id.load());
  const bool is_listed = number_in(read_file(path, buffer)) == static_cast<std::uint64_t>(helper);
  child_processes below;
  below.find(buffer);
  const bool is_found = contains(below.found(), static_cast<std::uint64_t>(helper));
  stop = true;
  writer.join();
  CHECK(is_listed);
  CHECK_FALSE(is_found);
}

TEST_CASE("GIVEN a process that has ended WHEN its memory is asked for THEN nothing") {
  std::array<char, 16384> buffer;
  const pid_t gone = fork();
  if (gone == 0) _exit(0);
  siginfo_t ended;
  waitid(P_PID, static_cast<id_t>(gone), &ended, WEXITED | WNOWAIT);
  CHECK_FALSE(resident_of(static_cast<std::uint64_t>(gone), buffer));  // not waited for yet
  waitpid(gone, nullptr, 0);
  CHECK_FALSE(resident_of(static_cast<std::uint64_t>(gone), buffer));
  CHECK_FALSE(proportional_of(static_cast<std::uint64_t>(gone), buffer));
}

// A ctest of its own, since not every machine allows it: 77 is skipped, with the reason.
TEST_CASE(
    "GIVEN a thread with descriptors of its own THEN the program's stay open, take no notice of "
    "it, and end by the program alone",
    "[.][own_descriptors]") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  int opened_there = -1;
  bool left = false;
  std::thread([&] {
    left = leave_shared_descriptors();
    opened_there = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    // The numbers are free again in a table that nobody shares.
  }).join();
  if (!left) {
    std::puts("skipped: a thread may not have descriptors of its own here (close_range, unshare)");
    std::exit(77);
  }
  CHECK(opened_there == 0);
  CHECK(fcntl(ends[0], F_GETFD) != -1);
  CHECK(write(ends[1], "x", 1) == 1);
  bool left_again = false;  // Catch counts assertions of one thread only
  std::thread holder([&] { left_again = leave_shared_descriptors(); });
  close(ends[1]);
  char byte[2];
  CHECK(read(ends[0], byte, 2) == 1);
  CHECK(read(ends[0], byte, 2) == 0);  // the end: nobody else keeps it open
  holder.join();
  CHECK(left_again);
  close(ends[0]);
}
