// SPDX-License-Identifier: Apache-2.0
//
// A killed process leaves every event it had been told of as recorded.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "tests/unit/support/recorders.h"

using namespace memtrace;
using namespace memtrace::test;
using format::kind;

namespace {

constexpr std::uint64_t address_step = 512;

// Records for ever; acknowledges through the pipe how many events it has recorded.
[[noreturn]] void record_until_killed(const temporary_folder& folder, int pipe, bool background) {
  auto recording = make_recorder(folder, small_shape, background);
  for (std::uint64_t i = 1;; ++i) {
    auto event = allocation(i * address_step, i);
    event.stack =
        recording->intern(std::vector<stack_frame>{{"f" + std::to_string(i % 1000), "g", 1}});
    recording->allocator(event);
    if (write(pipe, &i, sizeof i) != sizeof i) _exit(1);
  }
}

// The last whole number that the child had sent before it died.
std::uint64_t kill_after(pid_t child, int pipe, std::uint64_t wanted) {
  std::uint64_t last = 0;
  std::uint64_t next = 0;
  bool killed = false;
  while (read(pipe, &next, sizeof next) == sizeof next) {
    last = next;
    if (last >= wanted && !killed) {
      kill(child, SIGKILL);
      killed = true;
    }
  }
  return last;
}

void check_survivor(const temporary_folder& folder, pid_t child, std::uint64_t acknowledged) {
  const auto trace = decode_trace(folder.path() + "/train." + std::to_string(child) + ".mtrace");
  INFO("acknowledged " << acknowledged << ", error " << trace.error);
  REQUIRE(trace.error.empty());
  CHECK(trace.header.state == static_cast<std::uint32_t>(format::file_state::recording));
  const auto allocations = trace.of(kind::alloc);
  REQUIRE(allocations.size() >= acknowledged);
  // At most the event that was not acknowledged yet.
  CHECK(allocations.size() <= acknowledged + 1);
  for (std::uint64_t i = 0; i < allocations.size(); ++i) {
    REQUIRE(allocations[i].address == (i + 1) * address_step);
    REQUIRE(allocations[i].values[0] == i + 1);
  }
}

}  // namespace

TEST_CASE("after SIGKILL at any moment every acknowledged event is in the file") {
  std::mt19937 random(20240607);
  for (int round = 0; round < 12; ++round) {
    const temporary_folder folder;
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      close(ends[0]);
      record_until_killed(folder, ends[1], round % 2 == 0);
    }
    close(ends[1]);
    const std::uint64_t acknowledged = kill_after(child, ends[0], random() % 25'000);
    close(ends[0]);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    check_survivor(folder, child, acknowledged);
  }
}
