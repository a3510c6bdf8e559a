// SPDX-License-Identifier: Apache-2.0
//
// Allocations from many threads, on several devices, by the runtime, the driver and pools, each
// freed by another thread than the one that made it. Addresses are used again all the time.
// Usage: allocations THREADS ALLOCATIONS    (all threads together)
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

namespace {

struct allocation {
  void* address;
  int from;  // 0: cudaMalloc, 1: cuMemAlloc, 2: a pool, 3: pinned
};

// Where threads leave what others free.
struct exchange {
  std::mutex mutex;
  std::vector<allocation> waiting;
};

constexpr int exchange_count = 8;
exchange exchanges[exchange_count];
std::atomic<long> failures{0};

void require(int error, const char* what = "call", const void* address = nullptr) {
  if (error == 0) return;
  failures.fetch_add(1);
  std::printf("%s of %p: error %d\n", what, address, error);
}

allocation make(unsigned number, std::size_t bytes) {
  allocation made{nullptr, static_cast<int>(number % 16)};
  // Mostly the short way; the others often enough.
  made.from = made.from < 10 ? 0 : made.from < 13 ? 1 : made.from < 15 ? 2 : 3;
  switch (made.from) {
    case 0:
      require(cudaMalloc(&made.address, bytes), "cudaMalloc");
      break;
    case 1: {
      CUdeviceptr address = 0;
      require(cuMemAlloc(&address, bytes), "cuMemAlloc");
      made.address = reinterpret_cast<void*>(address);
      break;
    }
    case 2:
      require(cudaMallocAsync(&made.address, bytes, cudaStreamPerThread), "cudaMallocAsync");
      break;
    default:
      require(cudaHostAlloc(&made.address, bytes, 0), "cudaHostAlloc");
  }
  return made;
}

void end(const allocation& one) {
  switch (one.from) {
    case 0:
      return require(cudaFree(one.address), "cudaFree", one.address);
    case 1:
      return require(cuMemFree(reinterpret_cast<CUdeviceptr>(one.address)), "cuMemFree",
                     one.address);
    case 2:
      return require(cudaFreeAsync(one.address, cudaStreamPerThread), "cudaFreeAsync", one.address);
    default:
      return require(cudaFreeHost(one.address), "cudaFreeHost", one.address);
  }
}

void work(int thread, long count) {
  require(cudaSetDevice(thread % 2), "cudaSetDevice");
  unsigned state = 12345u + static_cast<unsigned>(thread);
  for (long i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    const allocation made = make(state >> 20, 512 + (state >> 8) % 4096);
    allocation ended{nullptr, 0};
    {
      exchange& place = exchanges[state % exchange_count];
      const std::lock_guard lock(place.mutex);
      place.waiting.push_back(made);
      if (place.waiting.size() > 4) {
        ended = place.waiting.front();
        place.waiting.front() = place.waiting.back();
        place.waiting.pop_back();
      }
    }
    if (ended.address != nullptr) end(ended);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int thread_count = std::atoi(argv[1]);
  const long each = std::atol(argv[2]) / thread_count;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < thread_count; ++thread) threads.emplace_back(work, thread, each);
  for (std::thread& one : threads) one.join();
  require(cudaSetDevice(0), "cudaSetDevice");  // the driver frees in a context
  for (exchange& place : exchanges) {
    for (const allocation& one : place.waiting) end(one);
  }
  std::printf("%ld allocations, %ld failures\n", each * thread_count, failures.load());
  return failures.load() == 0 ? 0 : 1;
}
