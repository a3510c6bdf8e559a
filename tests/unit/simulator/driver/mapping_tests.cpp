// SPDX-License-Identifier: Apache-2.0
//
// Address ranges, physical memory and mappings, and pools.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>

#include "tests/unit/catch.h"
#include "tests/unit/support/gpu.h"

using namespace memtrace::simulated_gpu;

namespace {

constexpr std::size_t mib = 1024 * 1024;
constexpr std::size_t gib = 1024 * mib;

std::size_t free_now() {
  std::size_t free = 0;
  std::size_t total = 0;
  REQUIRE(cudaMemGetInfo(&free, &total) == cudaSuccess);
  return free;
}

CUmemAllocationProp on_device_0() {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  return prop;
}

CUmemGenericAllocationHandle create(std::size_t bytes) {
  const CUmemAllocationProp prop = on_device_0();
  CUmemGenericAllocationHandle handle = 0;
  REQUIRE(cuMemCreate(&handle, bytes, &prop, 0) == CUDA_SUCCESS);
  return handle;
}

struct reservation {
  explicit reservation(std::size_t size) : bytes(size) {
    REQUIRE(cuMemAddressReserve(&base, bytes, 0, 0, 0) == CUDA_SUCCESS);
  }
  reservation(const reservation&) = delete;
  reservation& operator=(const reservation&) = delete;
  ~reservation() { CHECK(cuMemAddressFree(base, bytes) == CUDA_SUCCESS); }
  CUdeviceptr base = 0;
  std::size_t bytes;
};

cudaMemPool_t default_pool() {
  cudaMemPool_t pool = nullptr;
  REQUIRE(cudaDeviceGetDefaultMemPool(&pool, 0) == cudaSuccess);
  return pool;
}

std::uint64_t pool_bytes(cudaMemPoolAttr attribute) {
  std::uint64_t value = 0;
  REQUIRE(cudaMemPoolGetAttribute(default_pool(), attribute, &value) == cudaSuccess);
  return value;
}

}  // namespace

TEST_CASE("address space costs nothing, even more of it than the GPU has") {
  const std::size_t before = free_now();
  const reservation huge(400 * gib);
  CHECK(free_now() == before);
}

TEST_CASE("physical memory is charged when created and given back at the last release or unmap") {
  const std::size_t before = free_now();
  const reservation range(40 * mib);
  const CUmemGenericAllocationHandle handle = create(20 * mib);
  CHECK(before - free_now() == 20 * mib);
  REQUIRE(cuMemMap(range.base, 20 * mib, 0, handle, 0) == CUDA_SUCCESS);
  CHECK(before - free_now() == 20 * mib);

  SECTION("released first, unmapped last") {
    REQUIRE(cuMemRelease(handle) == CUDA_SUCCESS);
    CHECK(before - free_now() == 20 * mib);
    REQUIRE(cuMemUnmap(range.base, 20 * mib) == CUDA_SUCCESS);
  }
  SECTION("unmapped first, released last") {
    REQUIRE(cuMemUnmap(range.base, 20 * mib) == CUDA_SUCCESS);
    CHECK(before - free_now() == 20 * mib);
    REQUIRE(cuMemRelease(handle) == CUDA_SUCCESS);
  }
  SECTION("mapped twice, and retained by address") {
    REQUIRE(cuMemMap(range.base + 20 * mib, 20 * mib, 0, handle, 0) == CUDA_SUCCESS);
    CUmemGenericAllocationHandle again = 0;
    REQUIRE(cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(range.base + 21 * mib)) ==
            CUDA_SUCCESS);
    CHECK(again == handle);
    REQUIRE(cuMemRelease(handle) == CUDA_SUCCESS);
    REQUIRE(cuMemUnmap(range.base, 40 * mib) == CUDA_SUCCESS);  // both mappings at once
    CHECK(before - free_now() == 20 * mib);
    REQUIRE(cuMemRelease(again) == CUDA_SUCCESS);
  }
  CHECK(free_now() == before);
  CHECK(cuMemRelease(handle) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("mappings must be whole, inside one reservation, and over nothing else") {
  const reservation range(8 * mib);
  const CUmemGenericAllocationHandle handle = create(4 * mib);
  CHECK(cuMemMap(range.base, 2 * mib, 0, handle, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemMap(range.base + 6 * mib, 4 * mib, 0, handle, 0) == CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuMemMap(range.base, 4 * mib, 0, handle, 0) == CUDA_SUCCESS);
  CHECK(cuMemMap(range.base + 2 * mib, 4 * mib, 0, handle, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemAddressFree(range.base, range.bytes) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemUnmap(range.base, 2 * mib) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemUnmap(range.base, 8 * mib) == CUDA_ERROR_INVALID_VALUE);
  CUmemAccessDesc access{};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  CHECK(cuMemSetAccess(range.base, 4 * mib, &access, 1) == CUDA_SUCCESS);
  CHECK(cuMemSetAccess(range.base, 8 * mib, &access, 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cudaFree(reinterpret_cast<void*>(range.base)) == cudaErrorInvalidValue);
  CHECK(cuMemUnmap(range.base, 4 * mib) == CUDA_SUCCESS);
  CHECK(cuMemRelease(handle) == CUDA_SUCCESS);
}

TEST_CASE("physical memory comes in granules, up to the capacity") {
  const CUmemAllocationProp prop = on_device_0();
  CUmemGenericAllocationHandle handle = 0;
  std::size_t granule = 0;
  REQUIRE(cuMemGetAllocationGranularity(&granule, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM) ==
          CUDA_SUCCESS);
  CHECK(granule == 2 * mib);
  CHECK(cuMemCreate(&handle, mib, &prop, 0) == CUDA_ERROR_INVALID_VALUE);
  const std::size_t all = free_now() / granule * granule;
  CHECK(cuMemCreate(&handle, all + granule, &prop, 0) == CUDA_ERROR_OUT_OF_MEMORY);
  REQUIRE(cuMemCreate(&handle, all, &prop, 0) == CUDA_SUCCESS);
  void* pointer = nullptr;
  CHECK(cudaMalloc(&pointer, 2 * mib) == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
  CHECK(cuMemRelease(handle) == CUDA_SUCCESS);
}

TEST_CASE("a pool keeps what is freed until the program synchronises, up to its threshold") {
  const std::size_t before = free_now();
  const stream user;
  void* pointer = nullptr;
  REQUIRE(cudaMallocAsync(&pointer, 1000, user.handle) == cudaSuccess);
  CHECK(before - free_now() == 32 * mib);
  CHECK(pool_bytes(cudaMemPoolAttrReservedMemCurrent) == 32 * mib);
  CHECK(pool_bytes(cudaMemPoolAttrUsedMemCurrent) == 1024);
  REQUIRE(cudaFreeAsync(pointer, user.handle) == cudaSuccess);
  CHECK(before - free_now() == 32 * mib);

  SECTION("without a threshold all goes back") {
    REQUIRE(cudaStreamSynchronize(user.handle) == cudaSuccess);
    CHECK(free_now() == before);
  }
  SECTION("below the threshold it stays until it is trimmed") {
    std::uint64_t threshold = ~std::uint64_t{0};
    REQUIRE(cudaMemPoolSetAttribute(default_pool(), cudaMemPoolAttrReleaseThreshold, &threshold) ==
            cudaSuccess);
    REQUIRE(cudaStreamSynchronize(user.handle) == cudaSuccess);
    CHECK(before - free_now() == 32 * mib);
    REQUIRE(cudaMemPoolTrimTo(default_pool(), 0) == cudaSuccess);
    CHECK(free_now() == before);
    threshold = 0;
    REQUIRE(cudaMemPoolSetAttribute(default_pool(), cudaMemPoolAttrReleaseThreshold, &threshold) ==
            cudaSuccess);
  }
  SECTION("cudaMalloc gets what pools do not use before it fails") {
    const device_buffer all(free_now() / (2 * mib) * (2 * mib) + 32 * mib);
  }
}

TEST_CASE("pools cannot exceed the GPU, and free what they gave") {
  const stream user;
  void* pointer = nullptr;
  CHECK(cudaMallocAsync(&pointer, free_now() + 32 * mib, user.handle) == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
  REQUIRE(cudaMallocAsync(&pointer, 64 * mib, user.handle) == cudaSuccess);
  CHECK(cudaFree(pointer) == cudaSuccess);
  CHECK(cudaFreeAsync(pointer, user.handle) == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
}
