// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/support/recorders.h"

using namespace memtrace;
using namespace memtrace::test;
using format::kind;

namespace {

int sentences = 0;

// In a child, because the limit cannot be taken back. Exit status 0: all went as it should.
int record_into_limit(const temporary_folder& folder, rlim_t limit, bool background) {
  const rlimit size{limit, limit};
  if (setrlimit(RLIMIT_FSIZE, &size) != 0) return 1;
  int error = 0;
  auto recording = recorder::create({.directory = folder.path(),
                                     .program = "train",
                                     .shape = small_shape,
                                     .background = background,
                                     .say = [](std::string_view) { ++sentences; }},
                                    fake_clock(), error);
  if (recording == nullptr) return error == EFBIG ? 2 : 3;
  // Addresses that do not compress.
  std::uint64_t address = 1;
  for (int i = 0; i < 200'000; ++i) {
    address = address * 6364136223846793005u + 1442695040888963407u;
    recording->allocator(allocation(address, static_cast<std::uint64_t>(i)));
  }
  const auto summary = recording->finish();
  if (summary.complete || summary.error != EFBIG || sentences != 1) return 4;
  return summary.events + summary.dropped_events == 200'000 ? 0 : 5;
}

int run_limited(const temporary_folder& folder, rlim_t limit, bool background, pid_t& child) {
  child = fork();
  REQUIRE(child >= 0);
  if (child == 0) _exit(record_into_limit(folder, limit, background));
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("a full disk stops the recording, keeps what was recorded, and says so once") {
  for (const bool background : {false, true}) {
    const temporary_folder folder;
    pid_t child = 0;
    REQUIRE(run_limited(folder, 1 << 20, background, child) == 0);
    const auto trace = decode_trace(folder.path() + "/train." + std::to_string(child) + ".mtrace");
    REQUIRE(trace.error.empty());
    CHECK(trace.header.state == static_cast<std::uint32_t>(format::file_state::stopped));
    CHECK(trace.header.dropped_because ==
          static_cast<std::uint32_t>(format::drop_reason::disk_full));
    CHECK(trace.header.dropped_errno == EFBIG);
    const auto allocations = trace.of(kind::alloc);
    CHECK(allocations.size() + trace.header.dropped_events == 200'000);
    CHECK(trace.slot_sequences.size() == 2);
    for (std::uint64_t i = 0; i < allocations.size(); ++i) {
      REQUIRE(allocations[i].values[0] == i);
    }
  }
}

TEST_CASE("where not even the slots fit there is no file") {
  const temporary_folder folder;
  pid_t child = 0;
  CHECK(run_limited(folder, 4096, true, child) == 2);
  CHECK(std::filesystem::is_empty(folder.path()));
}
