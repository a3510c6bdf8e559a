// SPDX-License-Identifier: Apache-2.0
//
// Virtual memory management: reserve, create, map, write, unmap a part, release before unmap.
#include "say.h"

int main() {
  const CUdevice device = first_device_with_context();
  CUmemAllocationProp wanted{};
  wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  wanted.location.id = device;
  size_t page = 0;
  must("cuMemGetAllocationGranularity",
       cuMemGetAllocationGranularity(&page, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  std::printf("page %zu\n", page);

  CUdeviceptr base = 0;
  must("cuMemAddressReserve", cuMemAddressReserve(&base, 4 * page, 0, 0, 0));
  CUmemGenericAllocationHandle handles[2] = {};
  for (int i = 0; i < 2; ++i) {
    must("cuMemCreate", cuMemCreate(&handles[i], 2 * page, &wanted, 0));
    must("cuMemMap", cuMemMap(base + 2 * page * i, 2 * page, 0, handles[i], 0));
  }
  CUmemAccessDesc access{};
  access.location = wanted.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  must("cuMemSetAccess", cuMemSetAccess(base, 4 * page, &access, 1));
  must("cuMemsetD8", cuMemsetD8(base, 1, 4 * page));
  CUmemGenericAllocationHandle again = 0;
  must("cuMemRetainAllocationHandle",
       cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(base)));
  must("cuMemRelease", cuMemRelease(again));
  must("cuMemRelease", cuMemRelease(handles[0]));
  must("cuMemUnmap", cuMemUnmap(base, 2 * page));
  must("cuMemUnmap", cuMemUnmap(base + 2 * page, 2 * page));
  must("cuMemRelease", cuMemRelease(handles[1]));
  must("cuMemAddressFree", cuMemAddressFree(base, 4 * page));
  must("cuDevicePrimaryCtxRelease", cuDevicePrimaryCtxRelease(device));
}
