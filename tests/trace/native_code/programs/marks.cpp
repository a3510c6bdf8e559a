// SPDX-License-Identifier: Apache-2.0
// Marks what it works on: a request is a step.
#include <memtrace/memtrace.h>

#include "server.h"

namespace {

[[gnu::noinline]] void answer(bool frees) {
  server::work();
  void* const result =
      server::take(64 * server::kibibyte);  // 1, which keeps: (anonymous namespace)::answer
  if (frees) server::give_back(result, 64 * server::kibibyte);
}

}  // namespace

int main(int count, char**) {
  for (int i = 0; i < 40; ++i) {
    answer(count > 1);  // 2: main
    memtrace_step(nullptr);
  }
  server::say();
}
