// SPDX-License-Identifier: Apache-2.0
//
// Sharing device memory between processes, in the runtime and the driver API.
#include "simulator/core/ipc.h"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstring>

#include "simulator/core/device.h"
#include "simulator/core/errors.h"
#include "simulator/core/export.h"

using namespace memtrace::simulator;

// CUDA renames it to its current version, which says the same; both are exported.
#undef cuIpcOpenMemHandle

static_assert(sizeof(CUipcMemHandle) == sizeof(cudaIpcMemHandle_t));

namespace {

CUresult open(CUdeviceptr* result, const CUipcMemHandle& handle, unsigned flags) {
  if (!result || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult error = check_context(); error != CUDA_SUCCESS) return error;
  cudaIpcMemHandle_t content;
  std::memcpy(&content, &handle, sizeof content);
  address_t address = 0;
  const cudaError_t error = ipc::open(address, content, current_device());
  if (error == cudaSuccess) *result = address;
  return driver_result(error);
}

}  // namespace

MEMTRACE_API cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer) {
  if (!handle) return remember(cudaErrorInvalidValue);
  return remember(ipc::export_memory(*handle, reinterpret_cast<address_t>(pointer)));
}

MEMTRACE_API cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t handle,
                                              unsigned flags) {
  if (!pointer || flags != cudaIpcMemLazyEnablePeerAccess) return remember(cudaErrorInvalidValue);
  if (const cudaError_t error = ensure_context(); error != cudaSuccess) return remember(error);
  address_t address = 0;
  const cudaError_t error = ipc::open(address, handle, current_device());
  if (error == cudaSuccess) *pointer = reinterpret_cast<void*>(address);
  return remember(error);
}

MEMTRACE_API cudaError_t cudaIpcCloseMemHandle(void* pointer) {
  return remember(ipc::close(reinterpret_cast<address_t>(pointer)));
}

MEMTRACE_API CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr address) {
  cudaIpcMemHandle_t content;
  if (!handle) return CUDA_ERROR_INVALID_VALUE;
  const cudaError_t error = ipc::export_memory(content, address);
  if (error == cudaSuccess) std::memcpy(handle, &content, sizeof content);
  return driver_result(error);
}

MEMTRACE_API CUresult cuIpcOpenMemHandle(CUdeviceptr* result, CUipcMemHandle handle,
                                         unsigned flags) {
  return open(result, handle, flags);
}

MEMTRACE_API CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* result, CUipcMemHandle handle,
                                            unsigned flags) {
  return open(result, handle, flags);
}

MEMTRACE_API CUresult cuIpcCloseMemHandle(CUdeviceptr address) {
  return driver_result(ipc::close(address));
}
