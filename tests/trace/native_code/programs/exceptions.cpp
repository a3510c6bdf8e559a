// SPDX-License-Identifier: Apache-2.0
// What an exception passes by is not given back, unless somebody thought of it.
#include <stdexcept>

#include "server.h"

namespace batch {

constexpr std::size_t bytes = 320 * server::kibibyte;

[[gnu::noinline]] void check(int number) {
  if (number % 2 == 0) throw std::runtime_error("bad row");
}

[[gnu::noinline]] void run(int number, bool frees) {
  void* const rows = server::take(bytes);  // 1, which keeps: batch::run
  if (frees) {
    server::give_back(rows, bytes);
    check(number);
  } else {
    check(2 * number);
    server::give_back(rows, bytes);
  }
}

}  // namespace batch

int main(int count, char**) {
  for (int i = 0; i < 40; ++i) {
    server::work();
    try {
      batch::run(i, count > 1);  // 2: main
    } catch (const std::runtime_error&) {
    }
  }
  server::say();
}
