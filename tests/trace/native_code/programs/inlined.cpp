// SPDX-License-Identifier: Apache-2.0
// Functions that the compiler puts into others.
#include "server.h"

namespace {

[[gnu::always_inline]] inline void* workspace(std::size_t rows) {
  return server::take(rows * server::kibibyte);  // 1, which keeps: workspace
}

[[gnu::always_inline]] inline void* normalised(std::size_t rows) {
  return workspace(rows);  // 2: normalised
}

[[gnu::noinline]] void layer(bool frees) {
  server::work();
  void* const made = normalised(192);  // 3: (anonymous namespace)::layer
  if (frees) server::give_back(made, 192 * server::kibibyte);
}

}  // namespace

int main(int count, char**) {
  for (int i = 0; i < 40; ++i) {
    layer(count > 1);  // 4: main
  }
  server::say();
}
