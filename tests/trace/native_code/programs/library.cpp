// SPDX-License-Identifier: Apache-2.0
// A library that keeps what it is asked for; the program is caller.cpp or loader.cpp.
#include "server.h"

namespace cache {

[[gnu::noinline]] static void* entry(std::size_t bytes) {
  void* const made = server::take(bytes);  // 1, which keeps: cache::entry
  return made;
}

}  // namespace cache

extern "C" void put(int frees) {
  server::work();
  void* const made = cache::entry(96 * server::kibibyte);  // 2: put
  if (frees) server::give_back(made, 96 * server::kibibyte);
}

extern "C" void say() {
  server::say();
}
