// SPDX-License-Identifier: Apache-2.0
//
// What libmemtrace.so looks for in libc10_cuda.so, with the parameters of a release of PyTorch
// (RELEASE, 203 is 2.3), or with one method that no release has (STRANGE_…). Each method says what
// it was called with.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <utility>

struct CUstream_st;
using device_index = signed char;
using pool = std::pair<unsigned long long, unsigned long long>;

namespace c10 {

struct CachingDeviceAllocator {
  struct TraceEntry;
};

namespace cuda {

struct CUDAStream {
  std::uint64_t words[2];
};
CUDAStream getCurrentCUDAStream(device_index) {
  return {};
}

namespace CUDACachingAllocator {

#if RELEASE < 211
struct TraceEntry;
#else
using TraceEntry = CachingDeviceAllocator::TraceEntry;
#endif

struct CUDAAllocator {
  virtual bool initialized() = 0;
};
std::atomic<CUDAAllocator*> allocator{nullptr};

namespace Native {

class NativeCachingAllocator : public CUDAAllocator {
 public:
  bool initialized() override { return true; }
#ifdef STRANGE_TRACKER
  virtual void attachAllocatorTraceTracker(std::function<void(const TraceEntry&)>, int number) {
    std::printf("tracker %d\n", number);
  }
#else
  virtual void attachAllocatorTraceTracker(std::function<void(const TraceEntry&)>) {
    std::printf("tracker\n");
  }
#endif
#ifdef STRANGE_EMPTY
  virtual void emptyCache(pool of, double share) {
    std::printf("empty %llu:%llu %g\n", of.first, of.second, share);
  }
#elif RELEASE < 208
  virtual void emptyCache() {
    std::printf("empty\n");
  }
#else
  virtual void emptyCache(pool of) {
    std::printf("empty %llu:%llu\n", of.first, of.second);
  }
#endif
  virtual void beginAllocateToPool(device_index device, pool of,
                                   std::function<bool(CUstream_st*)> filter) {
    std::printf("begin %d %llu:%llu %d\n", device, of.first, of.second, filter(nullptr));
  }
  virtual void endAllocateToPool(device_index device, pool of) {
    std::printf("end %d %llu:%llu\n", device, of.first, of.second);
  }
#ifndef WITHOUT_RELEASE
  virtual void releasePool(device_index device, pool of) {
    std::printf("release %d %llu:%llu\n", device, of.first, of.second);
  }
#endif
  virtual void setMemoryFraction(double fraction, device_index device) {
    std::printf("fraction %g %d\n", fraction, device);
  }
#if RELEASE >= 206
  virtual double getMemoryFraction(device_index) {
    return 1;
  }
#endif
#if RELEASE >= 211
  virtual void createOrIncrefPool(device_index device, pool of,
                                  std::shared_ptr<CUDAAllocator> with) {
    std::printf("create %d %llu:%llu %d\n", device, of.first, of.second, with != nullptr);
  }
#elif RELEASE >= 208
  virtual void createOrIncrefPool(device_index device, pool of, CUDAAllocator* with) {
    std::printf("create %d %llu:%llu %d\n", device, of.first, of.second, with != nullptr);
  }
#endif
#if RELEASE >= 210
  virtual void setNoSplit(device_index device, pool of) {
    std::printf("no split %d %llu:%llu\n", device, of.first, of.second);
  }
#endif
#ifdef STRANGE_OOM
  virtual void setUseOnOOM(device_index device, pool of, long how) {
    std::printf("oom %d %llu:%llu %ld\n", device, of.first, of.second, how);
  }
#elif RELEASE >= 211
  virtual void setUseOnOOM(device_index device, pool of, bool use) {
    std::printf("oom %d %llu:%llu %d\n", device, of.first, of.second, use);
  }
#elif RELEASE >= 208
  virtual void setUseOnOOM(device_index device, pool of) {
    std::printf("oom %d %llu:%llu\n", device, of.first, of.second);
  }
#endif
};

}  // namespace Native
}  // namespace CUDACachingAllocator
}  // namespace cuda
}  // namespace c10

namespace {

using c10::cuda::CUDACachingAllocator::Native::NativeCachingAllocator;

void use_all(NativeCachingAllocator& all) {
  const pool of{7, 8};
#if RELEASE >= 211
  all.createOrIncrefPool(1, of, nullptr);
#elif RELEASE >= 208
  all.createOrIncrefPool(1, of, nullptr);
#endif
  all.beginAllocateToPool(1, of, [](CUstream_st*) { return true; });
#if RELEASE >= 210
  all.setNoSplit(1, of);
#endif
#ifdef STRANGE_OOM
  all.setUseOnOOM(1, of, 5000000000);
#elif RELEASE >= 211
  all.setUseOnOOM(1, of, false);
#elif RELEASE >= 208
  all.setUseOnOOM(1, of);
#endif
  all.endAllocateToPool(1, of);
#ifdef STRANGE_EMPTY
  all.emptyCache(of, 0.5);
#elif RELEASE < 208
  all.emptyCache();
#else
  all.emptyCache(of);
#endif
  all.setMemoryFraction(0.75, 1);
#ifndef WITHOUT_RELEASE
  all.releasePool(1, of);
#endif
}

}  // namespace

// As a library that was linked calls it: by its exported name.
extern "C" c10::cuda::CUDAStream ask_for_stream(device_index device) __asm__(
    "_ZN3c104cuda20getCurrentCUDAStreamEa");

extern "C" void run() {
  // Through a pointer that the compiler cannot see through, so that the vtable is really used.
  auto* volatile made = new NativeCachingAllocator;
  void* const vtable = *reinterpret_cast<void**>(made);
  c10::cuda::CUDACachingAllocator::allocator = made;
  ask_for_stream(0);
  std::printf("vtable %s\n", *reinterpret_cast<void**>(made) == vtable ? "as it was" : "another");
  NativeCachingAllocator* const all = made;
  use_all(*all);
  std::fflush(stdout);
}
