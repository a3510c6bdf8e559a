// SPDX-License-Identifier: Apache-2.0
//
// The driver's facts about an address.
#include <cuda.h>

#include "simulator/core/device.h"
#include "simulator/core/device_memory.h"
#include "simulator/core/export.h"
#include "simulator/core/pools.h"

using namespace memtrace::simulator;

namespace {

template <typename Value>
CUresult give(void* result, Value value) {
  *static_cast<Value*>(result) = value;
  return CUDA_SUCCESS;
}

// Nothing, in the attribute's width.
CUresult give_nothing(void* result, CUpointer_attribute attribute) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
      return give<CUdeviceptr>(result, 0);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return give<int>(result, -2);
    default:
      return give<int>(result, 0);
  }
}

bool on_device(const memory_range& range) {
  return range.kind == memory_kind::device || range.kind == memory_kind::managed;
}

// For memory that CUDA knows. Error 801 for attributes that only its IPC has a use for.
CUresult answer(void* result, CUpointer_attribute attribute, CUdeviceptr address,
                const memory_range& range) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return give(result, primary_context(range.device));
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return give<unsigned>(result, on_device(range) ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return give<CUdeviceptr>(result, address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (range.kind == memory_kind::device) return CUDA_ERROR_INVALID_VALUE;
      return give(result, reinterpret_cast<void*>(address));
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      return give<unsigned long long>(result, range.id);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return give<int>(result, range.kind == memory_kind::managed);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return give<int>(result, range.device);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      return give<int>(result,
                       range.kind == memory_kind::device && !range.pool && !range.mapped_vmm);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return give<CUdeviceptr>(result, range.base);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return give<std::size_t>(result, range.size);
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return give<int>(result, 1);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return give<unsigned long long>(
          result, range.mapped_vmm ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : 0);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return give<unsigned>(result, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return give<CUmemoryPool>(result, range.pool ? pools::current_of(range.device) : nullptr);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
      return give<int>(result, 0);
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

}  // namespace

MEMTRACE_API CUresult cuPointerGetAttribute(void* result, CUpointer_attribute attribute,
                                            CUdeviceptr address) {
  if (!result) return CUDA_ERROR_INVALID_VALUE;
  const memory_range range = find(address);
  if (range.kind == memory_kind::unknown) return CUDA_ERROR_INVALID_VALUE;
  return answer(result, attribute, address, range);
}

// Unlike the single question, ordinary memory is no error here: its answers stay as they are set to
// nothing (the documentation's words), which callers rely on to tell it apart.
MEMTRACE_API CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes,
                                             void** results, CUdeviceptr address) {
  if (!attributes || !results) return CUDA_ERROR_INVALID_VALUE;
  const memory_range range = find(address);
  for (unsigned i = 0; i < count; ++i) {
    if (!results[i]) return CUDA_ERROR_INVALID_VALUE;
    const bool answered = range.kind != memory_kind::unknown &&
                          answer(results[i], attributes[i], address, range) == CUDA_SUCCESS;
    if (!answered) give_nothing(results[i], attributes[i]);
  }
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute,
                                            CUdeviceptr address) {
  const bool known = find(address).kind != memory_kind::unknown;
  return value && known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
