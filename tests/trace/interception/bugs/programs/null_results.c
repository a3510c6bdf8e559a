// SPDX-License-Identifier: Apache-2.0
//
// Leaves out what the driver would write to: an error to it, or allowed.
#include "by_name.h"

int main(void) {
  use_device(0);
  struct allocation_properties on_device = {1, 0, {1, 0}, {0, 0}};
  size_t total = 0;
  device_pointer pointer = 0;
  printf("%d\n", CALL(cuMemAlloc_v2, (device_pointer*, size_t), 0, 1 << 20));
  printf("%d\n", CALL(cuMemAllocAsync, (device_pointer*, size_t, void*), 0, 1 << 20, 0));
  printf("%d\n", CALL(cuMemAllocPitch_v2, (device_pointer*, size_t*, size_t, size_t, unsigned),
                      &pointer, 0, 64, 64, 4));
  printf("%d\n", CALL(cuMemCreate, (unsigned long long*, size_t, void*, unsigned long long), 0,
                      4 << 20, &on_device, 0));
  printf("%d\n", CALL(cuMemGetInfo_v2, (size_t*, size_t*), 0, &total));
  return 0;
}
