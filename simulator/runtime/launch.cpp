// SPDX-License-Identifier: Apache-2.0
//
// Kernel launches of the runtime API.
#include <cuda_runtime_api.h>

#include <vector>

#include "simulator/core/config.h"
#include "simulator/core/errors.h"
#include "simulator/core/export.h"
#include "simulator/core/fat_binaries.h"
#include "simulator/core/kernels.h"
#include "simulator/core/launches.h"

using namespace memtrace::simulator;

namespace {

struct call_configuration {
  launch_shape shape;
  cudaStream_t stream = nullptr;
};

// What `kernel<<<…>>>` was given, until the compiler-made function asks for it.
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

// What nvcc makes of `kernel<<<…>>>(…)`: push, call the host function, which pops and launches.
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
