// SPDX-License-Identifier: Apache-2.0
//
// Allocates as PyTorch does under expandable segments: address space, physical memory and a
// mapping, by functions that it gets from cudaGetDriverEntryPointByVersion.
#include "by_name.h"

typedef int entry_point(const char*, void**, unsigned, unsigned long long, int*);

static void* driver_function(const char* name) {
  static void* runtime;
  if (!runtime) runtime = dlopen("libcudart.so.13", RTLD_NOW | RTLD_GLOBAL);
  void* function = 0;
  int status = -1;
  ((entry_point*)find("cudaGetDriverEntryPointByVersion"))(name, &function, 12010, 0, &status);
  if (!function) exit(2);
  return function;
}

int main(void) {
  use_device(0);
  dlopen("libcudart.so.13", RTLD_NOW | RTLD_GLOBAL);
  struct allocation_properties on_device = {1, 0, {1, 0}, {0, 0}};
  device_pointer address = 0;
  unsigned long long handle = 0;
  const size_t size = 20 << 20;
  typedef unsigned long long number;
  const int reserved =
      ((int (*)(device_pointer*, size_t, size_t, device_pointer, number))driver_function(
          "cuMemAddressReserve"))(&address, 4 * size, 0, 0, 0);
  const int created = ((int (*)(number*, size_t, void*, number))driver_function("cuMemCreate"))(
      &handle, size, &on_device, 0);
  const int mapped =
      ((int (*)(device_pointer, size_t, size_t, number, number))driver_function("cuMemMap"))(
          address, size, 0, handle, 0);
  printf("%d %d %d\n", reserved, created, mapped);
  return 0;
}
