// SPDX-License-Identifier: Apache-2.0
//
// Asks a driver for a function of a later CUDA, for one it has at an old and at a later version,
// and for the asking itself; and allocates.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

typedef int resolver(const char*, void**, int, unsigned long long, int*);

static void* ask(resolver* ask_driver, const char* name, int version) {
  void* function = 0;
  int status = -1;
  const int error = ask_driver(name, &function, version, 0, &status);
  Dl_info its = {0};
  const int known = function && dladdr(function, &its);
  printf("%s %d: error %d status %d %s\n", name, version, error, status,
         known && its.dli_sname ? its.dli_sname : "-");
  return function;
}

int main(void) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  resolver* first = (resolver*)dlsym(driver, "cuGetProcAddress_v2");
  resolver* second = (resolver*)ask(first, "cuGetProcAddress", 12000);
  ask(second, "cuMemAllocLater", 13010);
  ask(second, "cuMemAllocLater", 13000);
  ask(second, "cuMemAllocNever", 13000);
  ask(second, "cuInit", 2000);
  ask(second, "cuMemAlloc", 2000);
  int (*allocate)(unsigned long long*, size_t) =
      (int (*)(unsigned long long*, size_t))ask(second, "cuMemAlloc", 14000);
  unsigned long long pointer = 0x10000;
  printf("allocated %d\n", allocate(&pointer, 1 << 20));
  return 0;
}
