// SPDX-License-Identifier: Apache-2.0
//
// Frees by cuMemFree what came from a pool, and what never was an allocation.
#include "by_name.h"

int main(void) {
  use_device(0);
  device_pointer from_pool = 0;
  printf("allocated %d\n",
         CALL(cuMemAllocAsync, (device_pointer*, size_t, void*), &from_pool, 1 << 20, 0));
  printf("freed %d\n", CALL(cuMemFree_v2, (device_pointer), from_pool));
  printf("freed nothing %d\n", CALL(cuMemFree_v2, (device_pointer), 0));
  printf("freed anything %d\n", CALL(cuMemFree_v2, (device_pointer), 0x1234500));
  return 0;
}
