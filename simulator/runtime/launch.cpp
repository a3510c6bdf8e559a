// SPDX-License-Identifier: Apache-2.0
//
// Kernel launches of the runtime API.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstring>
#include <iterator>
#include <set>
#include <vector>

#include "simulator/core/config.h"
#include "simulator/core/errors.h"
#include "simulator/core/export.h"
#include "simulator/core/kernels.h"
#include "simulator/core/launches.h"

// The device code of a compiled file, as far as one has to know it: for which architectures it was
// compiled. CUB picks its parameters by that, and refuses an architecture that is not in its list.
// The layouts are those of CUDA's fatbinary_section.h (the wrapper), and, for the entries, as
// public tools that read fat binaries know them.
namespace memtrace::simulator::fat_binaries {
namespace {

struct wrapper {
  std::uint32_t magic;
  std::uint32_t version;
  const unsigned char* binary;
};
constexpr std::uint32_t wrapper_magic = 0x466243b1;

struct header {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t header_bytes;
  std::uint64_t bytes;  // of the entries
};
constexpr std::uint32_t header_magic = 0xba55ed50;

struct entry {
  std::uint16_t kind;  // 1 PTX, 2 machine code
  std::uint16_t flags;
  std::uint32_t header_bytes;
  std::uint64_t bytes;  // behind its header
  std::uint64_t others;
  std::uint32_t version;
  std::uint32_t architecture;
};
constexpr std::uint16_t machine_code = 2;

std::set<int> architectures_in(const void* from) {
  std::set<int> found;
  wrapper outer;
  std::memcpy(&outer, from, sizeof outer);
  if (outer.magic != wrapper_magic || outer.binary == nullptr) return found;
  header whole;
  std::memcpy(&whole, outer.binary, sizeof whole);
  if (whole.magic != header_magic) return found;
  const unsigned char* at = outer.binary + whole.header_bytes;
  std::uint64_t left = whole.bytes;
  while (left >= sizeof(entry)) {
    entry one;
    std::memcpy(&one, at, sizeof one);
    if (one.header_bytes < sizeof one || one.header_bytes > left ||
        one.bytes > left - one.header_bytes) {
      break;
    }
    if (one.kind == machine_code) found.insert(static_cast<int>(one.architecture));
    at += one.header_bytes + one.bytes;
    left -= one.header_bytes + one.bytes;
  }
  return found;
}

// The architecture in a fat binary (86 stands for 8.6) that a GPU of this capability
// would run: the highest up to its own, else the lowest. `wrapper` is what a compiled file hands to
// __cudaRegisterFatBinary; the capability itself where nothing can be read there, or null.
int architecture_for(const void* wrapper, int capability) {
  if (wrapper == nullptr) return capability;
  const std::set<int> found = architectures_in(wrapper);
  if (found.empty()) return capability;
  const auto above = found.upper_bound(capability);
  return above == found.begin() ? *above : *std::prev(above);
}

}  // namespace
}  // namespace memtrace::simulator::fat_binaries

using namespace memtrace::simulator;

namespace {

struct call_configuration {
  launch_shape shape;
  cudaStream_t stream = nullptr;
};

// The arguments of `kernel<<<…>>>`, until the compiler-made function asks for it.
thread_local std::vector<call_configuration> pending;

cudaError_t launch(const void* function, const launch_shape& shape, void** arguments,
                   cudaStream_t stream) {
  if (!function) return cudaErrorInvalidDeviceFunction;
  if (!launches::valid(shape)) return cudaErrorInvalidConfiguration;
  return launches::kernel(streams::find(stream), function, shape, arguments);
}

cudaFuncAttributes attributes_of(const void* function) {
  const int capability = config().model.capability_major * 10 + config().model.capability_minor;
  const int version = fat_binaries::architecture_for(kernels::fat_binary_of(function), capability);
  cudaFuncAttributes result{};
  result.maxThreadsPerBlock = 1024;
  result.numRegs = 32;
  result.ptxVersion = version;
  result.binaryVersion = version;
  result.maxDynamicSharedSizeBytes = 48 << 10;
  result.preferredShmemCarveout = -1;
  return result;
}

}  // namespace

MEMTRACE_API cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block,
                                          void** arguments, std::size_t shared,
                                          cudaStream_t stream) {
  return remember(launch(function, {grid, block, shared}, arguments, stream));
}

MEMTRACE_API cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block,
                                                     void** arguments, std::size_t shared,
                                                     cudaStream_t stream) {
  return remember(launch(function, {grid, block, shared}, arguments, stream));
}

MEMTRACE_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* call, const void* function,
                                             void** arguments) {
  if (!call) return remember(cudaErrorInvalidValue);
  return remember(launch(function, {call->gridDim, call->blockDim, call->dynamicSmemBytes},
                         arguments, call->stream));
}

// The calls that nvcc makes of `kernel<<<…>>>(…)`: push, call the host function, which pops and
// launches.
MEMTRACE_API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared,
                                                  cudaStream_t stream) {
  pending.push_back({{grid, block, shared}, stream});
  return 0;
}

MEMTRACE_API cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared,
                                                    void* stream) {
  if (pending.empty()) return remember(cudaErrorMissingConfiguration);
  const call_configuration call = pending.back();
  pending.pop_back();
  *grid = call.shape.grid;
  *block = call.shape.block;
  *shared = call.shape.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = call.stream;
  return cudaSuccess;
}

// CUDA 13's compiler launches through these: the kernel handle is the host function itself.
MEMTRACE_API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
                                            void** arguments, std::size_t shared,
                                            cudaStream_t stream) {
  return remember(launch(kernel, {grid, block, shared}, arguments, stream));
}

MEMTRACE_API cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block,
                                                 void** arguments, std::size_t shared,
                                                 cudaStream_t stream) {
  return remember(
      launch(kernel, {grid, block, shared}, arguments, stream ? stream : cudaStreamPerThread));
}

MEMTRACE_API cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* result, const void* function) {
  if (!result || !function) return remember(cudaErrorInvalidValue);
  *result = attributes_of(function);
  return cudaSuccess;
}

MEMTRACE_API cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute, int) {
  return remember(function ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

MEMTRACE_API cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache) {
  return remember(function ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

MEMTRACE_API cudaError_t cudaFuncSetSharedMemConfig(const void* function, cudaSharedMemConfig) {
  return remember(function ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}
