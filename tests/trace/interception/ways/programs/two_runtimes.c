// SPDX-License-Identifier: Apache-2.0
//
// Uses one runtime by linking, and another of which it asks for functions by name.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

typedef int allocate(void** pointer, size_t size);
allocate cudaMalloc;

int main(int count, char** arguments) {
  void* pointer = 0;
  printf("linked %d\n", cudaMalloc(&pointer, 1 << 20));
  void* other = dlopen(count > 1 ? arguments[1] : "", RTLD_NOW | RTLD_LOCAL);
  if (!other) return 2;
  static const char* const names[] = {"cudaMalloc", "cudaMallocLater", "cudaMallocNever"};
  for (int i = 0; i < 3; ++i) {
    allocate* const function = (allocate*)dlsym(other, names[i]);
    const char* const error = dlerror();
    printf("%s %d %s\n", names[i], function ? function(&pointer, 77 + i) : -1, error ? error : "");
    printf("%p\n", function ? pointer : 0);
  }
  return 0;
}
