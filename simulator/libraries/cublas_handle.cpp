// SPDX-License-Identifier: Apache-2.0
//
// cuBLAS: handles and their settings, versions, and the names of its results.
#include "simulator/libraries/cublas_handle.h"
#include "simulator/libraries/library_version.h"

#include <library_types.h>

#include "simulator/core/config.h"
#include "simulator/core/device.h"
#include "simulator/core/export.h"
#include "simulator/core/streams.h"
#include "simulator/libraries/own_memory.h"

namespace memtrace::simulator::cublas {
namespace {

template <typename Value>
int put(const handle* from, Value handle::*field, Value* to) {
  if (!valid(from)) return not_initialized;
  if (to == nullptr) return invalid_value;
  *to = from->*field;
  return success;
}

template <typename Value>
int set(handle* to, Value handle::*field, Value value) {
  if (!valid(to)) return not_initialized;
  to->*field = value;
  return success;
}

}  // namespace

status compute(const handle* handle, unsigned kernels) {
  if (!valid(handle)) return not_initialized;
  return streams::launch(handle->stream, kernels) == cudaSuccess ? success : execution_failed;
}

const char* status_name(int code) {
  switch (code) {
    case success:
      return "CUBLAS_STATUS_SUCCESS";
    case not_initialized:
      return "CUBLAS_STATUS_NOT_INITIALIZED";
    case alloc_failed:
      return "CUBLAS_STATUS_ALLOC_FAILED";
    case invalid_value:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case execution_failed:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
    case internal_error:
      return "CUBLAS_STATUS_INTERNAL_ERROR";
    case not_supported:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
    default:
      return "CUBLAS_STATUS_UNKNOWN";
  }
}

const char* status_text(int code) {
  switch (code) {
    case success:
      return "success";
    case not_initialized:
      return "the library was not initialized";
    case alloc_failed:
      return "the resource allocation failed";
    case invalid_value:
      return "an invalid value was passed";
    case execution_failed:
      return "the function failed to launch on the GPU";
    case internal_error:
      return "an internal operation failed";
    case not_supported:
      return "the requested functionality is not supported";
    default:
      return "unknown status";
  }
}

MEMTRACE_API int cublasCreate_v2(handle** to) {
  if (to == nullptr) return invalid_value;
  const int device = current_device();
  if (ensure_context(device) != cudaSuccess) return not_initialized;
  address_t memory = 0;
  if (!own_memory::take("libcublas", device, constant(constant_id::cublas_handle), memory)) {
    return alloc_failed;
  }
  *to = new handle{};
  (*to)->memory = memory;
  (*to)->alive = handle_alive;
  (*to)->device = device;
  (*to)->atomics_mode = 1;
  return success;
}

MEMTRACE_API int cublasDestroy_v2(handle* handle) {
  if (!valid(handle)) return not_initialized;
  own_memory::give_back("libcublas", handle->device, handle->memory);
  handle->alive = 0;
  delete handle;
  return success;
}

MEMTRACE_API int cublasSetStream_v2(handle* handle, cudaStream_t stream) {
  if (!valid(handle)) return not_initialized;
  handle->stream = stream;
  // As documented: changing the stream gives up the workspace that the program had set.
  handle->workspace = nullptr;
  handle->workspace_bytes = 0;
  return success;
}
MEMTRACE_API int cublasGetStream_v2(const handle* handle, cudaStream_t* to) {
  return put(handle, &handle::stream, to);
}

MEMTRACE_API int cublasSetWorkspace_v2(handle* handle, void* workspace, std::size_t bytes) {
  if (!valid(handle)) return not_initialized;
  constexpr std::uintptr_t alignment = 256;
  if (reinterpret_cast<std::uintptr_t>(workspace) % alignment != 0) return invalid_value;
  handle->workspace = workspace;
  handle->workspace_bytes = bytes;
  return success;
}

MEMTRACE_API int cublasSetPointerMode_v2(handle* handle, int mode) {
  return set(handle, &handle::pointers, mode);
}
MEMTRACE_API int cublasGetPointerMode_v2(const handle* handle, int* to) {
  return put(handle, &handle::pointers, to);
}
MEMTRACE_API int cublasSetMathMode(handle* handle, int mode) {
  return set(handle, &handle::math_mode, mode);
}
MEMTRACE_API int cublasGetMathMode(const handle* handle, int* to) {
  return put(handle, &handle::math_mode, to);
}
MEMTRACE_API int cublasSetAtomicsMode(handle* handle, int mode) {
  return set(handle, &handle::atomics_mode, mode);
}
MEMTRACE_API int cublasGetAtomicsMode(const handle* handle, int* to) {
  return put(handle, &handle::atomics_mode, to);
}
MEMTRACE_API int cublasSetSmCountTarget(handle* handle, int count) {
  return set(handle, &handle::multiprocessors, count);
}
MEMTRACE_API int cublasGetSmCountTarget(const handle* handle, int* to) {
  return put(handle, &handle::multiprocessors, to);
}

MEMTRACE_API int cublasGetVersion_v2(const handle*, int* to) {
  if (to == nullptr) return invalid_value;
  *to = version;
  return success;
}
MEMTRACE_API int cublasGetProperty(libraryPropertyType part, int* to) {
  if (to == nullptr) return invalid_value;
  const std::optional<int> found = version_part(version, part);
  if (!found) return invalid_value;
  *to = *found;
  return success;
}
MEMTRACE_API std::size_t cublasGetCudartVersion() {
  return CUDART_VERSION;
}

MEMTRACE_API const char* cublasGetStatusName(int status) {
  return status_name(status);
}
MEMTRACE_API const char* cublasGetStatusString(int status) {
  return status_text(status);
}

}  // namespace memtrace::simulator::cublas
