// SPDX-License-Identifier: Apache-2.0
// Two threads, of which one keeps what it takes.
#include <mutex>
#include <thread>

#include "server.h"

namespace {

std::mutex one_at_a_time;

[[gnu::noinline]] void record(bool frees) {
  void* const sample =
      server::take(128 * server::kibibyte);  // 1, which keeps: (anonymous namespace)::record
  if (frees) server::give_back(sample, 128 * server::kibibyte);
}

[[gnu::noinline]] void serve(bool keeps, bool frees) {
  for (int i = 0; i < 40; ++i) {
    const std::lock_guard lock(one_at_a_time);
    server::work();
    if (keeps) record(frees);  // 2: (anonymous namespace)::serve
  }
}

}  // namespace

int main(int count, char**) {
  std::thread first(serve, false, false), second(serve, true, count > 1);
  first.join();
  second.join();
  server::say();
}
