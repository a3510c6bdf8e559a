// SPDX-License-Identifier: Apache-2.0
#include "simulator/core/unknown_reads.h"

#include <unistd.h>

#include <atomic>

#include "simulator/log/log.h"

namespace memtrace::simulator::unknown_reads {
namespace {

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

}  // namespace

void note(std::uint64_t address, std::size_t bytes) {
  log::trace("a read of {} bytes at {:#x}, unknown here", bytes, address);
  if (reads.fetch_add(1, std::memory_order_relaxed) == 0) {
    process.store(getpid(), std::memory_order_relaxed);
  }
}

std::uint64_t count() {
  return reads.load(std::memory_order_relaxed);
}

}  // namespace memtrace::simulator::unknown_reads
