// SPDX-License-Identifier: Apache-2.0
//
// The driver's functions, found in the global scope: those of a preloaded library first.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef unsigned long long device_pointer;

struct location {
  int type;  // 1: a device, 3: a NUMA node of the host
  int id;
};
struct allocation_properties {  // CUmemAllocationProp
  int type;                     // 1: pinned
  int handle_types;
  struct location where;
  void* unused[2];
};

static void* find(const char* name) {
  static void* driver;
  if (!driver) driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  void* found = dlsym(RTLD_DEFAULT, name);
  if (!found) {
    printf("no %s\n", name);
    exit(2);
  }
  return found;
}

#define CALL(name, parameters, ...) ((int(*) parameters)find(#name))(__VA_ARGS__)

static inline void* use_device(int device) {
  void* context = 0;
  CALL(cuInit, (unsigned), 0);
  CALL(cuDevicePrimaryCtxRetain, (void**, int), &context, device);
  CALL(cuCtxSetCurrent, (void*), context);
  return context;
}
