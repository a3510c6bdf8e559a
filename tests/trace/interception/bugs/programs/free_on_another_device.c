// SPDX-License-Identifier: Apache-2.0
//
// Allocates on device 1 and frees while device 0 is current.
#include "by_name.h"

int main(void) {
  void* const first = use_device(0);
  void* const second = use_device(1);
  device_pointer direct = 0, from_pool = 0;
  CALL(cuCtxSetCurrent, (void*), second);
  CALL(cuMemAlloc_v2, (device_pointer*, size_t), &direct, 3 << 20);
  CALL(cuMemAllocAsync, (device_pointer*, size_t, void*), &from_pool, 5 << 20, 0);
  CALL(cuCtxSetCurrent, (void*), first);
  const int freed = CALL(cuMemFree_v2, (device_pointer), direct);
  const int freed_async = CALL(cuMemFreeAsync, (device_pointer, void*), from_pool, 0);
  printf("freed %d %d\n", freed, freed_async);
  return 0;
}
