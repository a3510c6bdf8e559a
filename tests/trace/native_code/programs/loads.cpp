// SPDX-License-Identifier: Apache-2.0
// A server that loads its weights, layer by layer, and has them until its end; with an argument it works
// on requests after that, which take memory and give it back, or frees them in the end.
#include <string.h>
#include <time.h>

#include "server.h"

namespace {

constexpr std::size_t bytes = 512 * server::kibibyte;
void* weights[40];

[[gnu::noinline]] void load_layer(int layer) {
  server::work();                        // from which it is copied
  weights[layer] = server::take(bytes);  // 1, which keeps: (anonymous namespace)::load_layer
}

}  // namespace

int main(int count, char** words) {
  const char* const how = count > 1 ? words[1] : "";
  for (int layer = 0; layer < 40; ++layer) {
    load_layer(layer);  // 2: main
  }
  const timespec nap{0, 2'000'000};
  for (int request = 0; request < 200; ++request) {
    if (strcmp(how, "works") == 0) server::work();
    nanosleep(&nap, nullptr);
  }
  for (void* const layer : weights) {
    if (strcmp(how, "frees") == 0) server::give_back(layer, bytes);
  }
  server::say();
}
