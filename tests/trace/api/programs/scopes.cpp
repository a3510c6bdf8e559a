// SPDX-License-Identifier: Apache-2.0
//
// Phases of two threads at once, one deeper than is recorded, and one that an exception ends.
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "memtrace/memtrace.h"
#include "told.h"

namespace {

std::mutex mutex;
std::condition_variable changed;
int turn = 0;

void wait_for(int wanted) {
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&] { return turn == wanted; });
}

void give(int next) {
  const std::lock_guard<std::mutex> lock(mutex);
  turn = next;
  changed.notify_all();
}

void descend(int levels) {
  if (levels == 0) return;
  const memtrace::scoped_phase level(std::to_string(levels).c_str());
  descend(levels - 1);
}

}  // namespace

int main() {
  void* address = nullptr;
  if (cudaMalloc(&address, 4096) != 0) return 1;
  std::thread other([] {
    wait_for(1);
    const memtrace::scoped_phase phase("other thread");
    give(2);
    wait_for(3);
  });
  {
    const memtrace::scoped_phase phase("main thread");
    give(1);
    wait_for(2);
  }
  give(3);
  other.join();
  try {
    const memtrace::scoped_phase phase("raises");
    throw std::runtime_error("caught");
  } catch (const std::runtime_error& error) {
    std::puts(error.what());
  }
  descend(70);
  const memtrace::scoped_phase last("last");
  return cudaFree(address);
}
