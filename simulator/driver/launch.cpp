// SPDX-License-Identifier: Apache-2.0
//
// Kernel launches of the driver API: those of Triton, NVRTC and NCCL.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "simulator/core/errors.h"
#include "simulator/core/export.h"
#include "simulator/core/launches.h"

using namespace memtrace::simulator;

namespace {

CUresult launch(CUfunction function, const launch_shape& shape, CUstream stream, void** arguments) {
  if (!function) return CUDA_ERROR_INVALID_HANDLE;
  if (!launches::valid(shape)) return CUDA_ERROR_INVALID_VALUE;
  return driver_result(launches::kernel(streams::find(stream), function, shape, arguments));
}

}  // namespace

MEMTRACE_API CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                     unsigned grid_z, unsigned block_x, unsigned block_y,
                                     unsigned block_z, unsigned shared, CUstream stream,
                                     void** arguments, void**) {
  return launch(function, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared}, stream,
                arguments);
}

MEMTRACE_API CUresult cuLaunchKernelEx(const CUlaunchConfig* call, CUfunction function,
                                       void** arguments, void**) {
  if (!call) return CUDA_ERROR_INVALID_VALUE;
  const launch_shape shape{{call->gridDimX, call->gridDimY, call->gridDimZ},
                           {call->blockDimX, call->blockDimY, call->blockDimZ},
                           call->sharedMemBytes};
  return launch(function, shape, call->hStream, arguments);
}

MEMTRACE_API CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x,
                                                unsigned grid_y, unsigned grid_z, unsigned block_x,
                                                unsigned block_y, unsigned block_z, unsigned shared,
                                                CUstream stream, void** arguments) {
  return launch(function, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared}, stream,
                arguments);
}
