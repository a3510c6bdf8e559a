// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/base/small_lock.h"

#include <thread>
#include <vector>

#include "tests/unit/catch.h"

using memtrace::lock_holder;
using memtrace::small_lock;

TEST_CASE("the lock lets one thread in at a time") {
  small_lock lock;
  std::uint64_t counter = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20'000; ++i) {
        const lock_holder holder(lock);
        ++counter;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(counter == 8 * 20'000);
}

TEST_CASE("waiting for the lock can be given up") {
  small_lock lock;
  lock.lock();
  CHECK(!lock.try_lock_for(5));
  lock.unlock();
  CHECK(lock.try_lock_for(5));
  lock.unlock();
  CHECK(lock.try_lock_for(0));
}
