// SPDX-License-Identifier: Apache-2.0
// A program without Python: device memory by the runtime, by the driver, from a pool, by handle.
// Prints the most bytes of device memory that it held, as asked for, and its pinned host bytes.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

static size_t held, most_held;

static void took(size_t bytes) {
  held += bytes;
  if (held > most_held) most_held = held;
}

static void must(int error, const char* what) {
  if (error == 0) return;
  fprintf(stderr, "%s: error %d\n", what, error);
  exit(1);
}

enum { mebibyte = 1 << 20 };

int main(void) {
  void* first = 0;
  void* from_pool = 0;
  void* pinned = 0;
  CUdeviceptr second = 0, mapped = 0;
  CUmemGenericAllocationHandle handle = 0;
  CUmemAllocationProp where = {0};
  CUmemAccessDesc access = {0};
  where.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  where.location.type = access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;

  must(cudaMalloc(&first, 48 * mebibyte), "cudaMalloc");
  took(48 * mebibyte);
  must(cuMemAlloc(&second, 16 * mebibyte), "cuMemAlloc");
  took(16 * mebibyte);
  must(cudaFree(first), "cudaFree");
  held -= 48 * mebibyte;
  must(cudaMallocAsync(&from_pool, 32 * mebibyte, 0), "cudaMallocAsync");
  took(32 * mebibyte);
  must(cuMemCreate(&handle, 64 * mebibyte, &where, 0), "cuMemCreate");
  took(64 * mebibyte);
  must(cuMemAddressReserve(&mapped, 64 * mebibyte, 0, 0, 0), "cuMemAddressReserve");
  must(cuMemMap(mapped, 64 * mebibyte, 0, handle, 0), "cuMemMap");
  must(cuMemSetAccess(mapped, 64 * mebibyte, &access, 1), "cuMemSetAccess");
  must(cuMemRelease(handle), "cuMemRelease");
  must(cudaMallocHost(&pinned, 8 * mebibyte), "cudaMallocHost");

  must(cuMemUnmap(mapped, 64 * mebibyte), "cuMemUnmap");
  held -= 64 * mebibyte;
  must(cuMemAddressFree(mapped, 64 * mebibyte), "cuMemAddressFree");
  must(cudaFreeAsync(from_pool, 0), "cudaFreeAsync");
  must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  must(cuMemFree(second), "cuMemFree");
  must(cudaFreeHost(pinned), "cudaFreeHost");
  printf("{\"peak\": %zu, \"pinned\": %d}\n", most_held, 8 * mebibyte);
  return 0;
}
