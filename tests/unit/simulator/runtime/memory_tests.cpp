// SPDX-License-Identifier: Apache-2.0
//
// Device memory through the runtime API: capacity, granularity, addresses, errors.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "tests/unit/catch.h"
#include "tests/unit/support/gpu.h"

using namespace memtrace::simulated_gpu;

namespace {

constexpr std::size_t kib = 1024;
constexpr std::size_t mib = 1024 * kib;
constexpr std::size_t gib = 1024 * mib;

std::size_t free_now() {
  std::size_t free = 0;
  std::size_t total = 0;
  REQUIRE(cudaMemGetInfo(&free, &total) == cudaSuccess);
  REQUIRE(free <= total);
  return free;
}

std::uintptr_t number(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

}  // namespace

TEST_CASE("what is allocated is gone from the free memory, in pages of 2 MiB, until it is freed") {
  const std::size_t before = free_now();
  {
    const device_buffer large(5 * mib);
    CHECK(before - free_now() == 6 * mib);
    const device_buffer exact(4 * mib);
    CHECK(before - free_now() == 10 * mib);
    const device_buffer limit(1 * mib);  // from 1 MiB on, pages of its own
    CHECK(before - free_now() == 12 * mib);
  }
  CHECK(free_now() == before);
}

TEST_CASE("small allocations share a page, 512 bytes apart") {
  const std::size_t before = free_now();
  std::vector<void*> pointers(4096);
  for (void*& pointer : pointers) REQUIRE(cudaMalloc(&pointer, 100) == cudaSuccess);
  CHECK(before - free_now() == 2 * mib);
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    CHECK(number(pointers[i]) == number(pointers[0]) + i * 512);
  }
  const device_buffer another(1);  // the page is full
  CHECK(before - free_now() == 4 * mib);
  for (void* pointer : pointers) REQUIRE(cudaFree(pointer) == cudaSuccess);
  CHECK(before - free_now() == 2 * mib);
}

TEST_CASE("an allocation that does not fit is error 2, takes nothing, and leaves the GPU usable") {
  const std::size_t before = free_now();
  void* pointer = &pointer;
  CHECK(cudaMalloc(&pointer, before + 1) == cudaErrorMemoryAllocation);
  CHECK(pointer == &pointer);
  CHECK(cudaMalloc(&pointer, ~std::size_t{0}) == cudaErrorMemoryAllocation);
  CHECK(cudaPeekAtLastError() == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(free_now() == before);
  const device_buffer works(1 * gib);
}

TEST_CASE("the whole free memory can be allocated, and not a page more") {
  const std::size_t all = free_now() / (2 * mib) * (2 * mib);
  const device_buffer everything(all);
  void* pointer = nullptr;
  CHECK(cudaMalloc(&pointer, 2 * mib) == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
}

TEST_CASE("freed addresses are handed out again, lowest first") {
  void* first = nullptr;
  void* second = nullptr;
  REQUIRE(cudaMalloc(&first, 8 * mib) == cudaSuccess);
  REQUIRE(cudaMalloc(&second, 8 * mib) == cudaSuccess);
  CHECK(number(second) == number(first) + 8 * mib);
  REQUIRE(cudaFree(first) == cudaSuccess);
  const device_buffer again(2 * mib);
  CHECK(again.address == first);
  REQUIRE(cudaFree(second) == cudaSuccess);
}

TEST_CASE("freeing null is nothing; freeing twice, an inner or a foreign address is error 1") {
  CHECK(cudaFree(nullptr) == cudaSuccess);
  void* pointer = nullptr;
  REQUIRE(cudaMalloc(&pointer, mib) == cudaSuccess);
  CHECK(cudaFree(static_cast<char*>(pointer) + 256) == cudaErrorInvalidValue);
  CHECK(cudaFree(pointer) == cudaSuccess);
  CHECK(cudaFree(pointer) == cudaErrorInvalidValue);
  int local = 0;
  CHECK(cudaFree(&local) == cudaErrorInvalidValue);
  CHECK(cudaFreeHost(&local) == cudaErrorInvalidValue);
  CHECK(cudaFreeHost(nullptr) == cudaSuccess);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
}

TEST_CASE("nothing asked for is null and no error; no place for the answer is error 1") {
  void* pointer = &pointer;
  CHECK(cudaMalloc(&pointer, 0) == cudaSuccess);
  CHECK(pointer == nullptr);
  CHECK(cudaMalloc(nullptr, 1) == cudaErrorInvalidValue);
  CHECK(cudaMemGetInfo(nullptr, nullptr) == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
}

TEST_CASE("pitched rows begin at multiples of the pitch alignment, and all of them are charged") {
  const std::size_t before = free_now();
  void* pointer = nullptr;
  std::size_t pitch = 0;
  REQUIRE(cudaMallocPitch(&pointer, &pitch, 1000, 3000) == cudaSuccess);
  CHECK(pitch == 1024);
  CHECK(before - free_now() == 4 * mib);  // 3,072,000 bytes
  REQUIRE(cudaFree(pointer) == cudaSuccess);
}

TEST_CASE("pointers tell what they are") {
  const device_buffer device(mib);
  void* pinned = nullptr;
  void* managed = nullptr;
  REQUIRE(cudaHostAlloc(&pinned, 1000, cudaHostAllocPortable) == cudaSuccess);
  REQUIRE(cudaMallocManaged(&managed, 1000, cudaMemAttachGlobal) == cudaSuccess);
  std::vector<char> plain(10000);
  REQUIRE(cudaHostRegister(plain.data(), 5000, cudaHostRegisterDefault) == cudaSuccess);
  const auto type = [](const void* pointer) {
    cudaPointerAttributes attributes{};
    REQUIRE(cudaPointerGetAttributes(&attributes, pointer) == cudaSuccess);
    return attributes.type;
  };
  CHECK(type(device.at(100)) == cudaMemoryTypeDevice);
  CHECK(type(static_cast<char*>(pinned) + 999) == cudaMemoryTypeHost);
  CHECK(type(managed) == cudaMemoryTypeManaged);
  CHECK(type(plain.data() + 4999) == cudaMemoryTypeHost);
  CHECK(type(plain.data() + 5000) == cudaMemoryTypeUnregistered);
  CHECK(cudaHostRegister(plain.data() + 100, 10, 0) == cudaErrorHostMemoryAlreadyRegistered);
  CHECK(cudaHostUnregister(plain.data()) == cudaSuccess);
  CHECK(cudaHostUnregister(plain.data()) == cudaErrorHostMemoryNotRegistered);
  CHECK(cudaGetLastError() == cudaErrorHostMemoryNotRegistered);
  static_cast<char*>(managed)[999] = 1;  // the host may touch both
  static_cast<char*>(pinned)[999] = 1;
  CHECK(cudaFreeHost(pinned) == cudaSuccess);
  CHECK(cudaFree(managed) == cudaSuccess);
}

TEST_CASE("host and managed memory costs the device nothing") {
  const std::size_t before = free_now();
  void* pinned = nullptr;
  void* managed = nullptr;
  REQUIRE(cudaMallocHost(&pinned, 10 * mib) == cudaSuccess);
  REQUIRE(cudaMallocManaged(&managed, 64 * gib, cudaMemAttachGlobal) == cudaSuccess);
  CHECK(free_now() == before);
  REQUIRE(cudaFreeHost(pinned) == cudaSuccess);
  REQUIRE(cudaFree(managed) == cudaSuccess);
}

TEST_CASE("properties, attributes and cudaMemGetInfo agree") {
  cudaDeviceProp prop{};
  REQUIRE(cudaGetDeviceProperties(&prop, 0) == cudaSuccess);
  std::size_t free = 0;
  std::size_t total = 0;
  REQUIRE(cudaMemGetInfo(&free, &total) == cudaSuccess);
  CHECK(prop.totalGlobalMem == total);
  int value = 0;
  REQUIRE(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0) == cudaSuccess);
  CHECK(value == prop.major);
  REQUIRE(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0) == cudaSuccess);
  CHECK(value == prop.multiProcessorCount);
  CHECK(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(100000), 0) ==
        cudaErrorInvalidValue);
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 99) == cudaErrorInvalidDevice);
  CHECK(cudaSetDevice(99) == cudaErrorInvalidDevice);
  CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
}

TEST_CASE("a reset device has everything back but nothing of it before") {
  void* pointer = nullptr;
  REQUIRE(cudaMalloc(&pointer, gib) == cudaSuccess);
  const std::size_t with = free_now();
  REQUIRE(cudaDeviceReset() == cudaSuccess);
  CHECK(free_now() == with + gib);
  CHECK(cudaFree(pointer) == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
}
