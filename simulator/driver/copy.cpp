// SPDX-License-Identifier: Apache-2.0
//
// Copies of the driver API. Where the header renames a function to its current version, the version
// is what is defined here.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "simulator/core/copies.h"
#include "simulator/core/errors.h"
#include "simulator/core/export.h"

using namespace memtrace::simulator;

namespace {

void* host_view(CUdeviceptr address) {
  return reinterpret_cast<void*>(address);
}

CUresult copy(const strided_copy& what, cudaMemcpyKind kind, CUstream stream, bool waits) {
  return driver_result(copies::run(what, kind, streams::find(stream), waits));
}

CUresult copy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream, bool waits) {
  return copy(copies::linear(host_view(to), host_view(from), bytes), cudaMemcpyDefault, stream,
              waits);
}

CUresult upload(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream, bool waits) {
  return copy(copies::linear(host_view(to), from, bytes), cudaMemcpyHostToDevice, stream, waits);
}

CUresult download(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream, bool waits) {
  return copy(copies::linear(to, host_view(from), bytes), cudaMemcpyDeviceToHost, stream, waits);
}

// Null for arrays, which belong to textures.
const char* base(CUmemorytype type, const void* host, CUdeviceptr device) {
  if (type == CU_MEMORYTYPE_ARRAY) return nullptr;
  return static_cast<const char*>(type == CU_MEMORYTYPE_HOST ? host : host_view(device));
}

CUresult copy(const CUDA_MEMCPY2D* box, CUstream stream, bool waits) {
  if (!box) return CUDA_ERROR_INVALID_VALUE;
  const char* const to = base(box->dstMemoryType, box->dstHost, box->dstDevice);
  const char* const from = base(box->srcMemoryType, box->srcHost, box->srcDevice);
  if (!to || !from) return CUDA_ERROR_INVALID_VALUE;
  strided_copy one =
      copies::linear(const_cast<char*>(to) + box->dstY * box->dstPitch + box->dstXInBytes,
                     from + box->srcY * box->srcPitch + box->srcXInBytes, box->WidthInBytes);
  one.height = box->Height;
  one.to_pitch = box->dstPitch ? box->dstPitch : box->WidthInBytes;
  one.from_pitch = box->srcPitch ? box->srcPitch : box->WidthInBytes;
  if (one.width > one.to_pitch || one.width > one.from_pitch) return CUDA_ERROR_INVALID_VALUE;
  return copy(one, cudaMemcpyDefault, stream, waits);
}

CUresult copy(const CUDA_MEMCPY3D* box, CUstream stream, bool waits) {
  if (!box) return CUDA_ERROR_INVALID_VALUE;
  const char* const to = base(box->dstMemoryType, box->dstHost, box->dstDevice);
  const char* const from = base(box->srcMemoryType, box->srcHost, box->srcDevice);
  if (!to || !from) return CUDA_ERROR_INVALID_VALUE;
  const std::size_t to_slice = box->dstPitch * box->dstHeight;
  const std::size_t from_slice = box->srcPitch * box->srcHeight;
  strided_copy one = copies::linear(
      const_cast<char*>(to) + box->dstZ * to_slice + box->dstY * box->dstPitch + box->dstXInBytes,
      from + box->srcZ * from_slice + box->srcY * box->srcPitch + box->srcXInBytes,
      box->WidthInBytes);
  one.height = box->Height;
  one.depth = box->Depth;
  one.to_pitch = box->dstPitch;
  one.to_slice = to_slice;
  one.from_pitch = box->srcPitch;
  one.from_slice = from_slice;
  if (one.width > one.to_pitch || one.width > one.from_pitch) return CUDA_ERROR_INVALID_VALUE;
  return copy(one, cudaMemcpyDefault, stream, waits);
}

}  // namespace

MEMTRACE_API CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy(to, from, bytes, nullptr, true);
}

MEMTRACE_API CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                                    CUstream stream) {
  return copy(to, from, bytes, stream, false);
}

MEMTRACE_API CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext,
                                   std::size_t bytes) {
  return copy(to, from, bytes, nullptr, true);
}

MEMTRACE_API CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext,
                                        std::size_t bytes, CUstream stream) {
  return copy(to, from, bytes, stream, false);
}

MEMTRACE_API CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, std::size_t bytes) {
  return upload(to, from, bytes, nullptr, true);
}

MEMTRACE_API CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes,
                                        CUstream stream) {
  return upload(to, from, bytes, stream, false);
}

MEMTRACE_API CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t bytes) {
  return download(to, from, bytes, nullptr, true);
}

MEMTRACE_API CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes,
                                        CUstream stream) {
  return download(to, from, bytes, stream, false);
}

MEMTRACE_API CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy(to, from, bytes, nullptr, true);
}

MEMTRACE_API CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                                        CUstream stream) {
  return copy(to, from, bytes, stream, false);
}

MEMTRACE_API CUresult cuMemcpy2D(const CUDA_MEMCPY2D* box) {
  return copy(box, nullptr, true);
}

MEMTRACE_API CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D* box) {
  return copy(box, nullptr, true);
}

MEMTRACE_API CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* box, CUstream stream) {
  return copy(box, stream, false);
}

MEMTRACE_API CUresult cuMemcpy3D(const CUDA_MEMCPY3D* box) {
  return copy(box, nullptr, true);
}

MEMTRACE_API CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D* box, CUstream stream) {
  return copy(box, stream, false);
}
