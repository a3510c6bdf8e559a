// SPDX-License-Identifier: Apache-2.0
//
// Frees what is in its list, and nothing else.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

typedef unsigned long long device_pointer;
static device_pointer list[64];

int cuMemAlloc_v2(device_pointer* pointer, size_t size) {
  const int error =
      ((int (*)(device_pointer*, size_t))dlsym(RTLD_NEXT, "cuMemAlloc_v2"))(pointer, size);
  for (int i = 0; i < 64 && !error; ++i) {
    if (list[i]) continue;
    list[i] = *pointer;
    break;
  }
  return error;
}

int cuMemFree_v2(device_pointer pointer) {
  for (int i = 0; i < 64; ++i) {
    if (!list[i] || list[i] != pointer) continue;
    list[i] = 0;
    return ((int (*)(device_pointer))dlsym(RTLD_NEXT, "cuMemFree_v2"))(pointer);
  }
  return -1;
}
