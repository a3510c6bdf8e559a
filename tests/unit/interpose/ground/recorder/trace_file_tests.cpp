// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <fstream>
#include <thread>

#include "interpose/ground/base/own_descriptors.h"
#include "interpose/ground/base/sanitizer.h"
#include "tests/unit/sanitized.h"
#include "tests/unit/support/recorders.h"

using namespace memtrace;
using namespace memtrace::test;

TEST_CASE("the file is the user's alone and named after program and process") {
  const temporary_folder folder;
  auto recording = make_recorder(folder);
  CHECK(recording->path() == folder.path() + "/train." + std::to_string(getpid()) + ".mtrace");
  struct stat facts {};
  REQUIRE(stat(recording->path().c_str(), &facts) == 0);
  CHECK((facts.st_mode & 07777) == 0600);
}

TEST_CASE("an existing file is never written to, nor a symbolic link followed") {
  const temporary_folder folder;
  const std::string base = folder.path() + "/train." + std::to_string(getpid());
  std::ofstream(base + ".mtrace") << "precious";
  REQUIRE(symlink((folder.path() + "/victim").c_str(), (base + ".1.mtrace").c_str()) == 0);
  auto recording = make_recorder(folder);
  CHECK(recording->path() == base + ".2.mtrace");
  std::string content;
  std::ifstream(base + ".mtrace") >> content;
  CHECK(content == "precious");
  CHECK(!std::filesystem::exists(folder.path() + "/victim"));
}

TEST_CASE("a program name cannot lead out of the folder") {
  const temporary_folder folder;
  int error = 0;
  auto recording = recorder::create({.directory = folder.path(), .program = "../../etc/x y"},
                                    fake_clock(), error);
  REQUIRE(recording != nullptr);
  CHECK(recording->path() ==
        folder.path() + "/.._.._etc_x_y." + std::to_string(getpid()) + ".mtrace");
}

TEST_CASE("a missing folder is made; one that cannot be made is an error") {
  const temporary_folder folder;
  int error = 0;
  CHECK(recorder::create({.directory = folder.path() + "/new", .program = "p"}, fake_clock(),
                         error) != nullptr);
  CHECK(recorder::create({.directory = folder.path() + "/a/b", .program = "p"}, fake_clock(),
                         error) == nullptr);
  CHECK(error == ENOENT);
  std::ofstream(folder.path() + "/file") << "x";
  CHECK(recorder::create({.directory = folder.path() + "/file", .program = "p"}, fake_clock(),
                         error) == nullptr);
  CHECK(error == ENOTDIR);
}

// A child of several threads starts one: ThreadSanitizer does not support that.
#ifndef MEMTRACE_UNDER_THREAD_SANITIZER
TEST_CASE("a forked child leaves its parent's file alone and can have its own") {
  const temporary_folder folder;
  auto recording = make_recorder(folder);
  recording->allocator(allocation(512, 512));
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    recorder* const parents = recording.release();  // as a hook's child handler leaves it
    parents->abandon();
    int error = 0;
    auto own =
        recorder::create({.directory = folder.path(), .program = "child", .shape = small_shape},
                         fake_clock(), error);
    if (own == nullptr) _exit(1);
    own->allocator(allocation(1024, 512));
    own->allocator(allocation(2048, 512));
    own->finish();
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  recording->allocator(allocation(4096, 512));
  const std::string path = recording->path();
  recording->finish();
  const auto parents = decode_trace(path);
  CHECK(parents.error.empty());
  CHECK(parents.of(format::kind::alloc).size() == 2);
  const auto childs = decode_trace(folder.path() + "/child." + std::to_string(child) + ".mtrace");
  CHECK(childs.error.empty());
  CHECK(childs.of(format::kind::alloc).size() == 2);
  CHECK(childs.header.parent_process_id == static_cast<std::uint64_t>(getpid()));
}
#endif

TEST_CASE("a program that closes all descriptors gets its own files and a whole trace") {
  const bool background = GENERATE(true, false);
  // A thread has descriptors of its own, of which the program has none, where the kernel allows it.
  bool is_apart = false;
  if (background && !is_sanitized)
    std::thread([&] { is_apart = leave_shared_descriptors(); }).join();
  const temporary_folder folder;
  auto recording = make_recorder(folder, small_shape, background);
  const std::string path = recording->path();
  // Our descriptor becomes the program's: it closes it and opens a file of its own there.
  struct stat ours {};
  REQUIRE(stat(path.c_str(), &ours) == 0);
  const std::string victim = folder.path() + "/victim";
  std::ofstream(victim) << "precious";
  int taken = 0;
  for (int descriptor = 3; descriptor < 1024; ++descriptor) {
    struct stat one {};
    if (fstat(descriptor, &one) != 0 || one.st_ino != ours.st_ino) continue;
    const int file = open(victim.c_str(), O_RDWR | O_CLOEXEC);
    REQUIRE(dup2(file, descriptor) == descriptor);
    close(file);
    ++taken;
  }
  REQUIRE(taken == (is_apart ? 0 : 1));
  constexpr std::uint64_t many = 60'000;  // several blocks
  for (std::uint64_t i = 0; i < many; ++i) {
    recording->allocator(allocation(i * 0x9e3779b97f4a7c15u, i));
  }
  CHECK(recording->finish().complete);
  const auto trace = decode_trace(path);
  CHECK(trace.error.empty());
  CHECK(trace.of(format::kind::alloc).size() == many);
  std::string content;
  std::ifstream(victim) >> content;
  CHECK(content == "precious");
}

namespace {

// The status of a child that records under a limit on its address space; 0: all of it.
[[maybe_unused]] int record_within(const temporary_folder& folder, rlim_t more_bytes) {
  std::ifstream sizes("/proc/self/statm");
  rlim_t pages = 0;
  sizes >> pages;
  const rlim_t limit = pages * 4096 + more_bytes;
  const rlimit size{limit, limit};
  if (setrlimit(RLIMIT_AS, &size) != 0) return 1;
  int error = 0;
  auto recording =
      recorder::create({.directory = folder.path(), .program = "train"}, fake_clock(), error);
  if (recording == nullptr) return error == ENOMEM || error == EAGAIN ? 0 : 2;
  constexpr std::uint64_t many = 400'000;
  for (std::uint64_t i = 0; i < many; ++i) {
    recording->allocator(allocation(i * 0x9e3779b97f4a7c15u, i));
  }
  const auto summary = recording->finish();
  // A gap that ended is told by one record more.
  return summary.events + summary.dropped_events >= many ? 0 : 3;
}

}  // namespace

// A sanitizer's own memory is terabytes of address space.
#if !defined(MEMTRACE_UNDER_ADDRESS_SANITIZER) && !defined(MEMTRACE_UNDER_THREAD_SANITIZER)
TEST_CASE("with little address space there is no trace, or every event is recorded or counted") {
  for (const rlim_t megabytes : {0, 1, 2, 3, 4, 6, 8, 12, 16, 64}) {
    const temporary_folder folder;
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) _exit(record_within(folder, megabytes << 20));
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    INFO(megabytes << " MiB");
    CHECK(status == 0);
  }
}
#endif

TEST_CASE("a storm of forks takes nothing from the parent's trace") {
  const temporary_folder folder;
  auto recording = make_recorder(folder);
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> asked{0};
  std::uint64_t told = 0;
  // So many while each fork is under way: what a slow fork would add is only read again below.
  std::thread records([&] {
    while (!stop) {
      for (; told < asked; ++told) {
        recording->allocator(allocation(told * 0x9e3779b97f4a7c15u, told));
      }
    }
  });
  int wrong = 0;
  for (int i = 0; i < 200; ++i) {
    asked += 5000;
    const pid_t child = fork();
    if (child == 0) {
      recording.release()->abandon();
      _exit(0);
    }
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) ++wrong;
    // A process that the recorder's thread starts is nobody's child.
    if (waitpid(-1, &status, WNOHANG) != -1 || errno != ECHILD) ++wrong;
  }
  stop = true;
  records.join();
  CHECK(wrong == 0);
  const auto summary = recording->finish();
  CHECK(summary.complete);
  CHECK(summary.events + summary.dropped_events >= told);
  const auto trace = decode_trace(recording->path());
  CHECK(trace.error.empty());
  CHECK(trace.of(format::kind::alloc).size() + summary.dropped_events == told);
}
