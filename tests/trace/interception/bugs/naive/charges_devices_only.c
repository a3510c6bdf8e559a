// SPDX-License-Identifier: Apache-2.0
//
// Takes the device from the properties, and has none where the memory is not on a device.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

static size_t used[16];

int cuMemCreate(unsigned long long* handle, size_t size, const int* properties,
                unsigned long long flags) {
  int device = 1 << 28;  // what happened to be there
  if (properties[2] == 1) device = properties[3];
  const int error = ((int (*)(unsigned long long*, size_t, const void*, unsigned long long))dlsym(
      RTLD_NEXT, "cuMemCreate"))(handle, size, properties, flags);
  used[device] += size;
  return error;
}
