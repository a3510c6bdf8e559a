// SPDX-License-Identifier: Apache-2.0
//
// cuMemset and its kin, and the single values that a stream writes.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "simulator/core/copies.h"
#include "simulator/core/errors.h"
#include "simulator/core/export.h"

using namespace memtrace::simulator;

namespace {

CUresult fill(CUdeviceptr to, std::size_t pitch, std::uint32_t value, std::size_t element,
              std::size_t width, std::size_t height, CUstream stream, bool waits) {
  if (to % element != 0 || pitch % element != 0) return CUDA_ERROR_INVALID_VALUE;
  strided_fill one;
  one.to = reinterpret_cast<void*>(to);
  one.value = value;
  one.element = element;
  one.width = width;
  one.height = height;
  one.pitch = pitch;
  return driver_result(copies::run(one, streams::find(stream), waits));
}

// Little-endian, four bytes at a time.
CUresult write_value(CUstream stream, CUdeviceptr to, cuuint64_t value, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += 4) {
    const auto part = static_cast<std::uint32_t>(value >> (8 * at));
    const CUresult result = fill(to + at, 0, part, 4, 1, 1, stream, false);
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

// A value that is waited for has been written: work is done as soon as it is given.
CUresult wait_value(CUstream stream) {
  return driver_result(streams::find(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

}  // namespace

MEMTRACE_API CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, std::size_t count) {
  return fill(to, 0, value, 1, count, 1, nullptr, true);
}

MEMTRACE_API CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, std::size_t count) {
  return fill(to, 0, value, 2, count, 1, nullptr, true);
}

MEMTRACE_API CUresult cuMemsetD32(CUdeviceptr to, unsigned value, std::size_t count) {
  return fill(to, 0, value, 4, count, 1, nullptr, true);
}

MEMTRACE_API CUresult cuMemsetD2D8(CUdeviceptr to, std::size_t pitch, unsigned char value,
                                   std::size_t width, std::size_t height) {
  return fill(to, pitch, value, 1, width, height, nullptr, true);
}

MEMTRACE_API CUresult cuMemsetD2D16(CUdeviceptr to, std::size_t pitch, unsigned short value,
                                    std::size_t width, std::size_t height) {
  return fill(to, pitch, value, 2, width, height, nullptr, true);
}

MEMTRACE_API CUresult cuMemsetD2D32(CUdeviceptr to, std::size_t pitch, unsigned value,
                                    std::size_t width, std::size_t height) {
  return fill(to, pitch, value, 4, width, height, nullptr, true);
}

MEMTRACE_API CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count,
                                      CUstream stream) {
  return fill(to, 0, value, 1, count, 1, stream, false);
}

MEMTRACE_API CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count,
                                       CUstream stream) {
  return fill(to, 0, value, 2, count, 1, stream, false);
}

MEMTRACE_API CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count,
                                       CUstream stream) {
  return fill(to, 0, value, 4, count, 1, stream, false);
}

MEMTRACE_API CUresult cuMemsetD2D8Async(CUdeviceptr to, std::size_t pitch, unsigned char value,
                                        std::size_t width, std::size_t height, CUstream stream) {
  return fill(to, pitch, value, 1, width, height, stream, false);
}

MEMTRACE_API CUresult cuMemsetD2D16Async(CUdeviceptr to, std::size_t pitch, unsigned short value,
                                         std::size_t width, std::size_t height, CUstream stream) {
  return fill(to, pitch, value, 2, width, height, stream, false);
}

MEMTRACE_API CUresult cuMemsetD2D32Async(CUdeviceptr to, std::size_t pitch, unsigned value,
                                         std::size_t width, std::size_t height, CUstream stream) {
  return fill(to, pitch, value, 4, width, height, stream, false);
}

MEMTRACE_API CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr to, cuuint32_t value,
                                           unsigned) {
  return write_value(stream, to, value, sizeof value);
}

MEMTRACE_API CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr to, cuuint64_t value,
                                           unsigned) {
  return write_value(stream, to, value, sizeof value);
}

MEMTRACE_API CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr, cuuint32_t, unsigned) {
  return wait_value(stream);
}

MEMTRACE_API CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr, cuuint64_t, unsigned) {
  return wait_value(stream);
}

MEMTRACE_API CUresult cuStreamBatchMemOp(CUstream stream, unsigned count,
                                         CUstreamBatchMemOpParams* operations, unsigned) {
  if (count > 0 && !operations) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; ++i) {
    const auto& write = operations[i].writeValue;
    CUresult result = CUDA_SUCCESS;
    if (operations[i].operation == CU_STREAM_MEM_OP_WRITE_VALUE_32) {
      result = write_value(stream, write.address, write.value, sizeof write.value);
    } else if (operations[i].operation == CU_STREAM_MEM_OP_WRITE_VALUE_64) {
      result = write_value(stream, write.address, write.value64, sizeof write.value64);
    } else {
      result = wait_value(stream);
    }
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}
