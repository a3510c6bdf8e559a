// SPDX-License-Identifier: Apache-2.0
//
// Stream-ordered pools: the device's own and another, a release threshold, trimming.
#include "say.h"

int main() {
  const CUdevice device = first_device_with_context();
  int has_pools = 0;
  cuDeviceGetAttribute(&has_pools, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, device);
  std::printf("pools %d\n", has_pools);
  if (has_pools == 0) return 0;
  CUstream stream = nullptr;
  must("cuStreamCreate", cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUdeviceptr memory = 0;
  must("cuMemAllocAsync", cuMemAllocAsync(&memory, 5 << 20, stream));
  must("cuMemsetD8Async", cuMemsetD8Async(memory, 3, 5 << 20, stream));
  must("cuMemFreeAsync", cuMemFreeAsync(memory, stream));

  CUmemPoolProps wanted{};
  wanted.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  wanted.location.id = device;
  CUmemoryPool pool = nullptr;
  must("cuMemPoolCreate", cuMemPoolCreate(&pool, &wanted));
  cuuint64_t threshold = ~cuuint64_t{0};
  must("cuMemPoolSetAttribute",
       cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
  for (int i = 0; i < 3; ++i) {
    must("cuMemAllocFromPoolAsync", cuMemAllocFromPoolAsync(&memory, 1 << 20, pool, stream));
    must("cuMemFreeAsync", cuMemFreeAsync(memory, stream));
  }
  must("cuStreamSynchronize", cuStreamSynchronize(stream));
  must("cuMemPoolTrimTo", cuMemPoolTrimTo(pool, 0));
  must("cuMemPoolDestroy", cuMemPoolDestroy(pool));
  must("cuStreamDestroy", cuStreamDestroy(stream));
  must("cuDevicePrimaryCtxRelease", cuDevicePrimaryCtxRelease(device));
}
