// SPDX-License-Identifier: Apache-2.0
//
// Charges physical memory to the device of the current context, without asking whether there is
// one.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

static size_t used[16];

int cuMemCreate(unsigned long long* handle, size_t size, const void* properties,
                unsigned long long flags) {
  int device = 1 << 28;  // what happened to be there
  ((int (*)(int*))dlsym(RTLD_NEXT, "cuCtxGetDevice"))(&device);
  used[device] += size;
  return ((int (*)(unsigned long long*, size_t, const void*, unsigned long long))dlsym(
      RTLD_NEXT, "cuMemCreate"))(handle, size, properties, flags);
}
