// SPDX-License-Identifier: Apache-2.0
// A server that loads its weights, layer by layer, and has them until its end; with an argument it works
// on requests after that, which take memory and give it back.
#include <time.h>

#include "server.h"

namespace {

[[gnu::noinline]] void load_layer() {
  server::work();                        // from which it is copied
  server::take(512 * server::kibibyte);  // 1, which keeps: (anonymous namespace)::load_layer
}

}  // namespace

int main(int count, char**) {
  for (int layer = 0; layer < 40; ++layer) {
    load_layer();  // 2: main
  }
  const timespec nap{0, 2'000'000};
  for (int request = 0; request < 200; ++request) {
    if (count > 1) server::work();
    nanosleep(&nap, nullptr);
  }
  server::say();
}
