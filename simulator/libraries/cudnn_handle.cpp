// SPDX-License-Identifier: Apache-2.0
//
// cuDNN: handles, version, result codes' names.
#include <library_types.h>

#include <cstdio>
#include <cstdlib>

#include "simulator/core/config.h"
#include "simulator/core/device.h"
#include "simulator/core/streams.h"
#include "simulator/libraries/cudnn_types.h"
#include "simulator/libraries/library_version.h"
#include "simulator/libraries/own_memory.h"

namespace memtrace::simulator::cudnn {
namespace {

// The versions that torch's wheels are built against: 9.19.0 (torch 2.11, CUDA 13.0), 9.1.0 (2.6,
// CUDA 12.4).
constexpr std::size_t usual_version = CUDART_VERSION >= 13000 ? 91900 : 90100;

// As the installed torch wants it (MEMTRACE_SIM_CUDNN, from its metadata): it refuses an older one.
std::size_t version() {
  static const std::size_t wanted = [] {
    const char* const text = std::getenv("MEMTRACE_SIM_CUDNN");
    return text == nullptr ? std::size_t{0} : std::strtoul(text, nullptr, 10);
  }();
  const std::uint64_t chosen = constant(constant_id::cudnn_version);
  if (chosen != 0) return chosen;
  return wanted != 0 ? wanted : usual_version;
}

}  // namespace

status compute(const handle* handle, unsigned kernels) {
  if (handle == nullptr) return null_pointer;
  return streams::launch(handle->stream, kernels) == cudaSuccess ? success : execution_failed;
}

MEMTRACE_API std::size_t cudnnGetVersion() {
  return version();
}
MEMTRACE_API std::size_t cudnnGetMaxDeviceVersion() {
  return version();
}
MEMTRACE_API std::size_t cudnnGetCudartVersion() {
  return CUDART_VERSION;
}
MEMTRACE_API int cudnnGetProperty(libraryPropertyType part, int* to) {
  if (to == nullptr) return null_pointer;
  const std::optional<int> found = version_part(static_cast<int>(version()), part);
  if (!found) return bad_param;
  *to = *found;
  return success;
}

MEMTRACE_API const char* cudnnGetErrorString(int code) {
  switch (code) {
    case success:
      return "CUDNN_STATUS_SUCCESS";
    case not_initialized:
      return "CUDNN_STATUS_NOT_INITIALIZED";
    case bad_param:
      return "CUDNN_STATUS_BAD_PARAM";
    case null_pointer:
      return "CUDNN_STATUS_BAD_PARAM_NULL_POINTER";
    case not_finalized:
      return "CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED";
    case wrong_attribute_type:
      return "CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE";
    case not_supported:
      return "CUDNN_STATUS_NOT_SUPPORTED";
    case internal_error:
      return "CUDNN_STATUS_INTERNAL_ERROR";
    case device_allocation_failed:
      return "CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED";
    case execution_failed:
      return "CUDNN_STATUS_EXECUTION_FAILED";
    default:
      return "CUDNN_STATUS_UNKNOWN";
  }
}
MEMTRACE_API void cudnnGetLastErrorString(char* to, std::size_t bytes) {
  if (to != nullptr && bytes > 0) std::snprintf(to, bytes, "no more is known (simulated cuDNN)");
}
MEMTRACE_API int cudnnQueryRuntimeError(const handle*, int* status, int, void*) {
  if (status == nullptr) return null_pointer;
  *status = success;
  return success;
}

MEMTRACE_API int cudnnCreate(handle** to) {
  if (to == nullptr) return null_pointer;
  const int device = current_device();
  if (ensure_context(device) != cudaSuccess) return not_initialized;
  address_t memory = 0;
  if (!own_memory::take("libcudnn", device, constant(constant_id::cudnn_handle), memory)) {
    return device_allocation_failed;
  }
  *to = new handle{device, nullptr, memory};
  return success;
}
MEMTRACE_API int cudnnDestroy(handle* handle) {
  if (handle == nullptr) return null_pointer;
  own_memory::give_back("libcudnn", handle->device, handle->memory);
  delete handle;
  return success;
}
MEMTRACE_API int cudnnSetStream(handle* handle, cudaStream_t stream) {
  if (handle == nullptr) return null_pointer;
  handle->stream = stream;
  return success;
}
MEMTRACE_API int cudnnGetStream(const handle* handle, cudaStream_t* to) {
  if (handle == nullptr || to == nullptr) return null_pointer;
  *to = handle->stream;
  return success;
}

}  // namespace memtrace::simulator::cudnn
