// SPDX-License-Identifier: Apache-2.0
//
// The simulated CUPTI through its API, as a profiler uses it.
#include <cuda_runtime_api.h>
#include <cupti.h>

#include <cstdlib>
#include <map>
#include <vector>

#include "tests/unit/catch.h"

namespace {

struct seen_memory {
  int operation;
  int kind;
  std::uint64_t address;
  std::uint64_t bytes;
  bool is_async;
};
std::vector<seen_memory> memory;
std::map<int, std::uint64_t> migrated;

void on_request(std::uint8_t** buffer, std::size_t* bytes, std::size_t* records) {
  constexpr std::size_t small = 4096;  // several of them
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, small));
  *bytes = small;
  *records = 0;
}

void on_complete(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind == CUPTI_ACTIVITY_KIND_MEMORY2) {
#if CUDART_VERSION >= 13000
      const auto& one = *reinterpret_cast<CUpti_ActivityMemory4*>(record);
#else
      const auto& one = *reinterpret_cast<CUpti_ActivityMemory3*>(record);
#endif
      memory.push_back(
          {one.memoryOperationType, one.memoryKind, one.address, one.bytes, one.isAsync != 0});
    } else if (record->kind == CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER) {
#if CUDART_VERSION >= 13000
      const auto& one = *reinterpret_cast<CUpti_ActivityUnifiedMemoryCounter3*>(record);
#else
      const auto& one = *reinterpret_cast<CUpti_ActivityUnifiedMemoryCounter2*>(record);
#endif
      migrated[one.counterKind] += one.value;
    }
  }
  std::free(buffer);
}

cudaError_t prefetch(void* pointer, std::size_t bytes, int device) {
#if CUDART_VERSION >= 13000
  cudaMemLocation to{};
  to.type = device < 0 ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  to.id = device < 0 ? 0 : device;
  return cudaMemPrefetchAsync(pointer, bytes, to, 0, nullptr);
#else
  return cudaMemPrefetchAsync(pointer, bytes, device, nullptr);
#endif
}

class listening {
 public:
  listening() {
    memory.clear();
    migrated.clear();
    REQUIRE(cuptiSubscribe(&subscriber_, nullptr, nullptr) == CUPTI_SUCCESS);
    REQUIRE(cuptiActivityRegisterCallbacks(on_request, on_complete) == CUPTI_SUCCESS);
    REQUIRE(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMORY2) == CUPTI_SUCCESS);
    REQUIRE(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER) == CUPTI_SUCCESS);
  }
  ~listening() {
    stop();
    CHECK(cuptiUnsubscribe(subscriber_) == CUPTI_SUCCESS);
  }
  static void stop() {
    CHECK(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_MEMORY2) == CUPTI_SUCCESS);
    CHECK(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER) == CUPTI_SUCCESS);
    CHECK(cuptiActivityFlushAll(0) == CUPTI_SUCCESS);
  }

 private:
  CUpti_SubscriberHandle subscriber_ = nullptr;
};

}  // namespace

TEST_CASE("One subscriber at a time", "[cupti]") {
  CUpti_SubscriberHandle first = nullptr, second = nullptr;
  REQUIRE(cuptiSubscribe(&first, nullptr, nullptr) == CUPTI_SUCCESS);
  CHECK(cuptiSubscribe(&second, nullptr, nullptr) ==
        CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  CHECK(cuptiUnsubscribe(first) == CUPTI_SUCCESS);
  CHECK(cuptiSubscribe(&second, nullptr, nullptr) == CUPTI_SUCCESS);
  CHECK(cuptiUnsubscribe(second) == CUPTI_SUCCESS);
  CHECK(cuptiUnsubscribe(second) == CUPTI_ERROR_INVALID_PARAMETER);
}

TEST_CASE("Each allocation and release has a record", "[cupti]") {
  void *plain = nullptr, *managed = nullptr, *pinned = nullptr, *pooled = nullptr;
  const listening session;
  REQUIRE(cudaMalloc(&plain, 1000) == cudaSuccess);
  REQUIRE(cudaMallocManaged(&managed, 2000, cudaMemAttachGlobal) == cudaSuccess);
  REQUIRE(cudaMallocHost(&pinned, 3000) == cudaSuccess);
  REQUIRE(cudaMallocAsync(&pooled, 4000, nullptr) == cudaSuccess);
  void* none = nullptr;
  REQUIRE(cudaMalloc(&none, std::size_t{1} << 60) != cudaSuccess);
  REQUIRE(cudaFree(plain) == cudaSuccess);
  REQUIRE(cudaFree(managed) == cudaSuccess);
  REQUIRE(cudaFreeHost(pinned) == cudaSuccess);
  REQUIRE(cudaFreeAsync(pooled, nullptr) == cudaSuccess);
  REQUIRE(cudaFree(nullptr) == cudaSuccess);
  REQUIRE(cudaFree(plain) != cudaSuccess);
  listening::stop();
  const auto number = [](void* of) { return reinterpret_cast<std::uint64_t>(of); };
  const std::vector<seen_memory> expected = {
      {1, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, number(plain), 1000, false},
      {1, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED, number(managed), 2000, false},
      {1, CUPTI_ACTIVITY_MEMORY_KIND_PINNED, number(pinned), 3000, false},
      {1, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, number(pooled), 4000, true},
      {2, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, number(plain), 1000, false},
      {2, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED, number(managed), 2000, false},
      {2, CUPTI_ACTIVITY_MEMORY_KIND_PINNED, number(pinned), 3000, false},
      {2, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, number(pooled), 4000, true}};
  REQUIRE(memory.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(memory[i].operation == expected[i].operation);
    CHECK(memory[i].kind == expected[i].kind);
    CHECK(memory[i].address == expected[i].address);
    CHECK(memory[i].bytes == expected[i].bytes);
    CHECK(memory[i].is_async == expected[i].is_async);
  }
}

TEST_CASE("Buffers that are full come back, and nothing is lost", "[cupti]") {
  const listening session;
  for (int i = 0; i < 500; ++i) {
    void* one = nullptr;
    REQUIRE(cudaMalloc(&one, 512) == cudaSuccess);
    REQUIRE(cudaFree(one) == cudaSuccess);
  }
  listening::stop();
  CHECK(memory.size() == 1000);
  std::size_t dropped = 7;
  CHECK(cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped) == CUPTI_SUCCESS);
  CHECK(dropped == 0);
}

TEST_CASE("Prefetching moves what is not there yet", "[cupti]") {
  void* managed = nullptr;
  REQUIRE(cudaMallocManaged(&managed, 1 << 20, cudaMemAttachGlobal) == cudaSuccess);
  {
    const listening session;
    REQUIRE(prefetch(managed, 1 << 20, 0) == cudaSuccess);
    REQUIRE(prefetch(managed, 1 << 20, 0) == cudaSuccess);
    REQUIRE(prefetch(managed, 1 << 20, -1) == cudaSuccess);
    listening::stop();
    CHECK(migrated[CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD] == 1 << 20);
    CHECK(migrated[CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH] == 1 << 20);
  }
  REQUIRE(cudaFree(managed) == cudaSuccess);
  REQUIRE(prefetch(managed, 1 << 20, 0) != cudaSuccess);
}
