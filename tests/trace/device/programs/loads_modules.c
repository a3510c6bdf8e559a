// SPDX-License-Identifier: Apache-2.0
//
// Loads a module while nothing else happens, one while another thread allocates, and, with an
// argument, many more; then waits until the file that the argument names is there, half a minute at
// most.
#include <unistd.h>

int cuMemAlloc_v2(unsigned long long* p, unsigned long bytes);
int cuModuleLoadData(void** module, const void* image);
int cuModuleUnload(void* module);

static int load_many(const char* awaited) {
  void* module;
  for (int i = 0; i < 300; ++i) {
    if (cuModuleLoadData(&module, "quiet") || cuModuleUnload(module)) return 1;
  }
  for (int i = 0; i < 3000 && access(awaited, F_OK) != 0; ++i) usleep(10000);
  return cuModuleLoadData(&module, "quiet") || cuModuleUnload(module);
}

int main(int count, char** arguments) {
  unsigned long long p;
  void* module;
  if (cuMemAlloc_v2(&p, 1 << 20)) return 1;
  if (cuModuleLoadData(&module, "quiet") || cuModuleUnload(module)) return 1;
  if (cuModuleLoadData(&module, "busy")) return 1;
  return count > 1 ? load_many(arguments[1]) : 0;
}
