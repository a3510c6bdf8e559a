// SPDX-License-Identifier: Apache-2.0
//
// Copies, fills, and what is known of device memory afterwards, through the runtime API.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "tests/unit/catch.h"
#include "tests/unit/support/gpu.h"

using namespace memtrace::simulated_gpu;

namespace {

using bytes = std::vector<unsigned char>;

bytes counting(std::size_t count, unsigned char first = 1) {
  bytes result(count);
  std::iota(result.begin(), result.end(), first);
  return result;
}

void upload(char* to, const bytes& data) {
  REQUIRE(cudaMemcpy(to, data.data(), data.size(), cudaMemcpyHostToDevice) == cudaSuccess);
}

bytes download(const char* from, std::size_t count) {
  bytes result(count, 0xee);
  REQUIRE(cudaMemcpy(result.data(), from, count, cudaMemcpyDeviceToHost) == cudaSuccess);
  return result;
}

}  // namespace

TEST_CASE("an upload comes back, whole and in part", "[copy]") {
  const device_buffer memory(4096);
  const bytes data = counting(100);
  upload(memory.at(0), data);
  CHECK(download(memory.at(0), 100) == data);
  CHECK(download(memory.at(10), 5) == counting(5, 11));
  CHECK(download(memory.at(0), 4) == counting(4));
  bytes more = data;
  more.resize(200, 0);
  CHECK(download(memory.at(0), 200) == more);
}

TEST_CASE("after an unknown kernel a short read at the start of an upload is a new tensor's",
          "[copy]") {
  const device_buffer memory(4096);
  const stream one;
  upload(memory.at(0), counting(64));
  one.launch();
  CHECK(download(memory.at(0), 4) == bytes(4, 0));
  CHECK(download(memory.at(8), 4) == counting(4, 9));
  CHECK(download(memory.at(0), 64) == counting(64));
}

TEST_CASE("later writes win, and what lies around them stays", "[copy]") {
  const device_buffer memory(4096);
  upload(memory.at(0), counting(16));
  upload(memory.at(4), bytes(4, 0xaa));
  CHECK(download(memory.at(0), 16) ==
        bytes{1, 2, 3, 4, 0xaa, 0xaa, 0xaa, 0xaa, 9, 10, 11, 12, 13, 14, 15, 16});
  REQUIRE(cudaMemset(memory.at(2), 0, 12) == cudaSuccess);
  CHECK(download(memory.at(0), 16) == bytes{1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15, 16});
}

TEST_CASE("fills are remembered up to 64 KiB", "[copy]") {
  const device_buffer memory(64 << 20);
  REQUIRE(cudaMemset(memory.address, 0x5a, 64 << 10) == cudaSuccess);
  CHECK(download(memory.at(12345), 3) == bytes(3, 0x5a));
  REQUIRE(cudaMemset(memory.address, 0x5a, 64 << 20) == cudaSuccess);
  CHECK(download(memory.at(12345), 3) == bytes(3, 0));
}

TEST_CASE("copies within the device carry what is known and forget the rest", "[copy]") {
  const device_buffer memory(4096);
  upload(memory.at(0), counting(8));
  upload(memory.at(1000), bytes(32, 0xff));
  REQUIRE(cudaMemcpy(memory.at(1000), memory.at(0), 16, cudaMemcpyDeviceToDevice) == cudaSuccess);
  bytes expected = counting(8);
  expected.resize(16, 0);
  expected.resize(32, 0xff);
  CHECK(download(memory.at(1000), 32) == expected);
}

TEST_CASE("uploads above 1 MiB are forgotten", "[copy]") {
  const device_buffer memory(2 << 20);
  upload(memory.at(0), bytes(1 << 20, 7));
  CHECK(download(memory.at(100), 1) == bytes(1, 7));
  upload(memory.at(0), bytes((1 << 20) + 1, 7));
  CHECK(download(memory.at(100), 1) == bytes(1, 0));
}

TEST_CASE("freeing forgets", "[copy]") {
  void* memory = nullptr;
  REQUIRE(cudaMalloc(&memory, 4 << 20) == cudaSuccess);
  upload(static_cast<char*>(memory), counting(8));
  void* const before = memory;
  REQUIRE(cudaFree(memory) == cudaSuccess);
  REQUIRE(cudaMalloc(&memory, 4 << 20) == cudaSuccess);
  INFO("the allocator gave another address: nothing is tested");
  REQUIRE(memory == before);
  CHECK(download(static_cast<char*>(memory), 8) == bytes(8, 0));
  REQUIRE(cudaFree(memory) == cudaSuccess);
}

TEST_CASE("rows are copied with their pitches", "[copy]") {
  const device_buffer memory(4096);
  const bytes data = counting(12);
  REQUIRE(cudaMemcpy2D(memory.address, 16, data.data(), 4, 4, 3, cudaMemcpyHostToDevice) ==
          cudaSuccess);
  CHECK(download(memory.at(16), 8) == bytes{5, 6, 7, 8, 0, 0, 0, 0});
  bytes back(12, 0);
  REQUIRE(cudaMemcpy2DAsync(back.data(), 4, memory.address, 16, 4, 3, cudaMemcpyDeviceToHost,
                            nullptr) == cudaSuccess);
  CHECK(back == data);
  CHECK(cudaMemcpy2D(memory.address, 2, data.data(), 4, 4, 3, cudaMemcpyHostToDevice) ==
        cudaErrorInvalidPitchValue);
}

TEST_CASE("copies between host addresses are real, pinned or not", "[copy]") {
  void* pinned = nullptr;
  REQUIRE(cudaMallocHost(&pinned, 64) == cudaSuccess);
  const bytes data = counting(64);
  REQUIRE(cudaMemcpy(pinned, data.data(), 64, cudaMemcpyDefault) == cudaSuccess);
  bytes back(64, 0);
  REQUIRE(cudaMemcpyAsync(back.data(), pinned, 64, cudaMemcpyDefault, nullptr) == cudaSuccess);
  CHECK(back == data);
  REQUIRE(cudaFreeHost(pinned) == cudaSuccess);
}

TEST_CASE("addresses that do not fit the copy are invalid values", "[copy]") {
  const device_buffer memory(1 << 21);
  char host[8] = {};
  void* gone = nullptr;
  REQUIRE(cudaMalloc(&gone, 4096) == cudaSuccess);
  REQUIRE(cudaFree(gone) == cudaSuccess);
  CHECK(cudaMemcpy(gone, host, 8, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(host, host, 8, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(memory.address, memory.address, 8, cudaMemcpyHostToDevice) ==
        cudaErrorInvalidValue);
  CHECK(cudaMemcpy(nullptr, host, 8, cudaMemcpyDefault) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(memory.at((1 << 21) - 4), host, 8, cudaMemcpyHostToDevice) ==
        cudaErrorInvalidValue);
  CHECK(cudaMemcpy(memory.address, host, 8, static_cast<cudaMemcpyKind>(9)) ==
        cudaErrorInvalidMemcpyDirection);
  CHECK(cudaMemset(host, 0, 8) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyDefault) == cudaSuccess);
}

TEST_CASE("copies from pageable memory hold the caller, pinned ones do not", "[copy]") {
  const stream one;
  const device_buffer memory(1 << 20);
  bytes pageable(1 << 20);
  void* pinned = nullptr;
  REQUIRE(cudaMallocHost(&pinned, 1 << 20) == cudaSuccess);
  REQUIRE(cudaMemcpyAsync(memory.address, pinned, 1 << 20, cudaMemcpyHostToDevice, one.handle) ==
          cudaSuccess);
  CHECK(cudaStreamQuery(one.handle) == cudaErrorNotReady);
  REQUIRE(cudaMemcpyAsync(pageable.data(), memory.address, 1 << 20, cudaMemcpyDeviceToHost,
                          one.handle) == cudaSuccess);
  CHECK(cudaStreamQuery(one.handle) == cudaSuccess);
  REQUIRE(cudaFreeHost(pinned) == cudaSuccess);
}
