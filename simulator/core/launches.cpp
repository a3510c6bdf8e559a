// SPDX-License-Identifier: Apache-2.0
#include "simulator/core/launches.h"

#include "simulator/core/activity.h"
#include "simulator/core/capture.h"
#include "simulator/core/device.h"
#include "simulator/core/kernel_effects.h"
#include "simulator/core/kernels.h"

namespace memtrace::simulator::launches {
namespace {

// Limits of every GPU since compute capability 3.0 (CUDA programming guide, technical
// specifications per compute capability).
constexpr unsigned maximum_threads = 1024;
constexpr unsigned maximum_block_z = 64;
constexpr unsigned maximum_grid_x = 2147483647;
constexpr unsigned maximum_grid_yz = 65535;

// Arguments are not kept: how many there are, and of what size, only the device code says.
cudaKernelNodeParams parameters(const void* function, const launch_shape& shape) {
  cudaKernelNodeParams result{};
  result.func = const_cast<void*>(function);
  result.gridDim = shape.grid;
  result.blockDim = shape.block;
  result.sharedMemBytes = static_cast<unsigned>(shape.shared_bytes);

  return result;
}

void tell(const stream& on, const void* function) {
  if (activity::is_wanted(activity::kernels)) activity::kernel(on, kernels::name_of(function));
}

}  // namespace

bool valid(const launch_shape& shape) {
  const auto& [gx, gy, gz] = shape.grid;
  const auto& [bx, by, bz] = shape.block;
  if (gx == 0 || gy == 0 || gz == 0 || bx == 0 || by == 0 || bz == 0) return false;
  if (gx > maximum_grid_x || gy > maximum_grid_yz || gz > maximum_grid_yz) return false;
  if (bx > maximum_threads || by > maximum_threads || bz > maximum_block_z) return false;
  return std::uint64_t{bx} * by * bz <= maximum_threads;
}

cudaError_t kernel(stream* stream, const void* function, const launch_shape& shape,
                   void** arguments) {
  if (!stream) return cudaErrorInvalidResourceHandle;
  const kernel_effects::bound effect = kernel_effects::bind(function, arguments);
  if (capture::capturing(*stream)) {
    return capture::add(*stream,
                        {cudaGraphNodeTypeKernel, clock::kernel, parameters(function, shape),
                         [effect, function](simulator::stream& on) {
                           tell(on, function);
                           kernel_effects::run(effect);
                         }});
  }
  if (const cudaError_t error = capture::check_use(*stream); error != cudaSuccess) return error;
  if (stream->legacy) {
    if (const cudaError_t error = ensure_context(); error != cudaSuccess) return error;
  }
  load_kernels(stream->device);
  streams::enqueue(*stream, clock::kernel);
  tell(*stream, function);
  kernel_effects::run(effect);
  return cudaSuccess;
}

cudaError_t host_function(stream* stream, cudaHostFn_t function, void* data) {
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (!function) return cudaErrorInvalidValue;
  if (const cudaError_t error = capture::check_use(*stream); error != cudaSuccess) return error;
  if (capture::capturing(*stream)) {
    return capture::add(
        *stream, {cudaGraphNodeTypeHost, clock::host_call, cudaHostNodeParams{function, data},
                  [=](simulator::stream&) { function(data); }});
  }
  streams::enqueue(*stream, clock::host_call);
  function(data);
  return cudaSuccess;
}

}  // namespace memtrace::simulator::launches
