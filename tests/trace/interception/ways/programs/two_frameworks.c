// SPDX-License-Identifier: Apache-2.0
//
// Opens libraries that are each linked with a runtime of its own, and lets them allocate in turn.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

int main(int count, char** arguments) {
  for (int round = 0; round < 2; ++round) {
    for (int i = 1; i < count; ++i) {
      void* plugin = dlopen(arguments[i], RTLD_NOW | RTLD_LOCAL);
      if (!plugin) return 2;
      int (*allocate)(void**, size_t) = (int (*)(void**, size_t))dlsym(plugin, "plugin_allocate");
      void* pointer = 0;
      const int error = allocate(&pointer, 77);
      printf("%d: error %d%s\n", i, error, pointer == (void*)0x1234000 ? ", of the other" : "");
    }
  }
  return 0;
}
