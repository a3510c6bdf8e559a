// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <utility>

#include "simulator/core/contents.h"
#include "simulator/log/log.h"

namespace memtrace::simulator::unknown_reads {
namespace {

// Device memory whose contents lie on the host.
struct known_range {
  std::uint64_t begin = 0;
  const char* host = nullptr;
  std::uint64_t bytes = 0;
};

// What this thread's unknown reads give in place of zeros, where the agent knows it
// (interpose/sight/agent/chosen_values.py): what lies in a known range, else the value.
struct answer {
  bool is_known = false;
  std::int64_t value = 0;
  std::uint64_t given = 0;  // how often
  std::size_t range_count = 0;
  std::array<known_range, 16> ranges{};
};
thread_local constinit answer given_here;

bool is_answered(void* to, std::uint64_t address, std::size_t bytes) {
  for (std::size_t i = 0; i < given_here.range_count; ++i) {
    const known_range& one = given_here.ranges[i];
    const std::uint64_t offset = address - one.begin;
    if (offset > one.bytes || bytes > one.bytes - offset) continue;
    std::memcpy(to, one.host + offset, bytes);
    return true;
  }
  if (!given_here.is_known) return false;
  if (bytes <= sizeof given_here.value) std::memcpy(to, &given_here.value, bytes);
  return true;
}

std::atomic<std::uint64_t> reads{0};
std::atomic<pid_t> process{0};

// At exit, in the process that read: a forked child inherits the count but did not read.
__attribute__((destructor)) void report() {
  const std::uint64_t number = reads.load(std::memory_order_relaxed);
  if (number == 0 || process.load(std::memory_order_relaxed) != getpid()) return;
  log::warn(
      "simulated GPU: {} {} of data that no kernel computed gave zeros: losses, argmax, nonzero() "
      "and what depends on them are not real (docs/simulator.md)",
      number, number == 1 ? "read" : "reads");
}

// The operator in which this thread reads, where the agent says it.
thread_local constinit std::array<char, 48> operator_here{};

// memtrace, if it is there, records from where it was read.
void tell_recorder() {
  auto* const tell =
      reinterpret_cast<void (*)(const char*)>(dlsym(RTLD_DEFAULT, "memtrace_unknown_read"));
  if (tell != nullptr) tell(operator_here.data());
}

}  // namespace

void note(void* to, address_t address, std::size_t bytes) {
  log::trace("a read of {} bytes at {:#x}, unknown here", bytes, address);
  if (is_answered(to, address, bytes)) {
    ++given_here.given;
    return;
  }
  tell_recorder();
  if (reads.fetch_add(1, std::memory_order_relaxed) == 0) {
    process.store(getpid(), std::memory_order_relaxed);
  }
}

}  // namespace memtrace::simulator::unknown_reads

// Until it is called again with 0, what this thread reads of unknown data is `value`, in as many
// bytes as are read; more than eight stay zeros. Ends the ranges below. Returns how many reads were
// answered since the last call.
extern "C" __attribute__((visibility("default"))) unsigned long long
memtrace_simulator_answer_reads(int is_known, long long value) {
  using namespace memtrace::simulator::unknown_reads;
  const auto given = std::exchange(given_here.given, 0);
  given_here.is_known = is_known != 0;
  given_here.value = value;
  given_here.range_count = 0;
  return given;
}

// Of PyTorch, in which this thread is; empty: that is seen by its stack.
extern "C" __attribute__((visibility("default"))) void memtrace_simulator_name_reads(
    const char* name) {
  auto& here = memtrace::simulator::unknown_reads::operator_here;
  std::snprintf(here.data(), here.size(), "%s", name);
}

// What this thread reads there is what lies at `host`, until the next call of the function above.
extern "C" __attribute__((visibility("default"))) void memtrace_simulator_answer_from(
    unsigned long long address, const char* host, unsigned long long bytes) {
  auto& here = memtrace::simulator::unknown_reads::given_here;
  if (here.range_count < here.ranges.size())
    here.ranges[here.range_count++] = {address, host, bytes};
}
