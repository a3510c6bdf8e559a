// SPDX-License-Identifier: Apache-2.0
// Functions that call each other.
#include "server.h"

namespace chat {

[[gnu::noinline]] void* remember(std::size_t bytes) {
  void* const kept = server::take(bytes);  // 1, which keeps: chat::remember
  return kept;
}

struct session {
  void* history = nullptr;
  [[gnu::noinline]] void answer(std::size_t bytes, bool frees) {
    server::work();
    history = remember(bytes);  // 2: chat::session::answer
    if (frees) server::give_back(history, bytes);
  }
};

}  // namespace chat

int main(int count, char**) {
  chat::session one;
  for (int i = 0; i < 40; ++i) {
    one.answer(256 * server::kibibyte, count > 1);  // 3: main
  }
  server::say();
}
