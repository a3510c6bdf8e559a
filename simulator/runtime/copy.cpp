// SPDX-License-Identifier: Apache-2.0
//
// Copies of the runtime API.
#include <cuda_runtime_api.h>

#include "simulator/core/copies.h"
#include "simulator/core/errors.h"
#include "simulator/core/export.h"
#include "simulator/runtime/copy_shapes.h"

using namespace memtrace::simulator;

namespace {

cudaError_t copy(const strided_copy& what, cudaMemcpyKind kind, cudaStream_t stream, bool waits) {
  return copies::run(what, kind, streams::find(stream), waits);
}

strided_copy rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                  std::size_t width, std::size_t height) {
  strided_copy one = copies::linear(to, from, width);
  one.height = height;
  one.to_pitch = to_pitch;
  one.from_pitch = from_pitch;
  return one;
}

cudaError_t copy_rows(const strided_copy& what, cudaMemcpyKind kind, cudaStream_t stream,
                      bool waits) {
  if (what.width > what.to_pitch || what.width > what.from_pitch) return cudaErrorInvalidPitchValue;
  return copy(what, kind, stream, waits);
}

cudaError_t copy_box(const cudaMemcpy3DParms* box, cudaStream_t stream, bool waits) {
  strided_copy one;
  if (!box || !shape_of(*box, one)) return cudaErrorInvalidValue;
  return copy(one, box->kind, stream, waits);
}

cudaError_t copy_box(const cudaMemcpy3DPeerParms* box, cudaStream_t stream, bool waits) {
  if (!box) return cudaErrorInvalidValue;
  cudaMemcpy3DParms same{};
  same.dstPtr = box->dstPtr;
  same.dstPos = box->dstPos;
  same.srcPtr = box->srcPtr;
  same.srcPos = box->srcPos;
  same.extent = box->extent;
  same.kind = cudaMemcpyDefault;
  return copy_box(&same, stream, waits);
}

// The address of a __device__ variable.
cudaError_t symbol_at(const void* symbol, std::size_t offset, char*& address) {
  void* base = nullptr;
  if (const cudaError_t error = cudaGetSymbolAddress(&base, symbol); error != cudaSuccess) {
    return error;
  }
  address = static_cast<char*>(base) + offset;
  return cudaSuccess;
}

cudaError_t to_symbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                      cudaMemcpyKind kind, cudaStream_t stream, bool waits) {
  char* to = nullptr;
  if (const cudaError_t error = symbol_at(symbol, offset, to); error != cudaSuccess) return error;
  return copy(copies::linear(to, from, bytes), kind, stream, waits);
}

cudaError_t from_symbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                        cudaMemcpyKind kind, cudaStream_t stream, bool waits) {
  char* from = nullptr;
  if (const cudaError_t error = symbol_at(symbol, offset, from); error != cudaSuccess) return error;
  return copy(copies::linear(to, from, bytes), kind, stream, waits);
}

}  // namespace

MEMTRACE_API cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes,
                                    cudaMemcpyKind kind) {
  return remember(copy(copies::linear(to, from, bytes), kind, nullptr, true));
}

MEMTRACE_API cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes,
                                         cudaMemcpyKind kind, cudaStream_t stream) {
  return remember(copy(copies::linear(to, from, bytes), kind, stream, false));
}

MEMTRACE_API cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, std::size_t bytes) {
  return remember(copy(copies::linear(to, from, bytes), cudaMemcpyDefault, nullptr, true));
}

MEMTRACE_API cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int,
                                             std::size_t bytes, cudaStream_t stream) {
  return remember(copy(copies::linear(to, from, bytes), cudaMemcpyDefault, stream, false));
}

MEMTRACE_API cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from,
                                      std::size_t from_pitch, std::size_t width, std::size_t height,
                                      cudaMemcpyKind kind) {
  return remember(
      copy_rows(rows(to, to_pitch, from, from_pitch, width, height), kind, nullptr, true));
}

MEMTRACE_API cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                                           std::size_t from_pitch, std::size_t width,
                                           std::size_t height, cudaMemcpyKind kind,
                                           cudaStream_t stream) {
  return remember(
      copy_rows(rows(to, to_pitch, from, from_pitch, width, height), kind, stream, false));
}

MEMTRACE_API cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* box) {
  return remember(copy_box(box, nullptr, true));
}

MEMTRACE_API cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* box, cudaStream_t stream) {
  return remember(copy_box(box, stream, false));
}

MEMTRACE_API cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* box) {
  return remember(copy_box(box, nullptr, true));
}

MEMTRACE_API cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* box,
                                               cudaStream_t stream) {
  return remember(copy_box(box, stream, false));
}

MEMTRACE_API cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes,
                                            std::size_t offset, cudaMemcpyKind kind) {
  return remember(to_symbol(symbol, from, bytes, offset, kind, nullptr, true));
}

MEMTRACE_API cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from,
                                                 std::size_t bytes, std::size_t offset,
                                                 cudaMemcpyKind kind, cudaStream_t stream) {
  return remember(to_symbol(symbol, from, bytes, offset, kind, stream, false));
}

MEMTRACE_API cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes,
                                              std::size_t offset, cudaMemcpyKind kind) {
  return remember(from_symbol(to, symbol, bytes, offset, kind, nullptr, true));
}

MEMTRACE_API cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t bytes,
                                                   std::size_t offset, cudaMemcpyKind kind,
                                                   cudaStream_t stream) {
  return remember(from_symbol(to, symbol, bytes, offset, kind, stream, false));
}

#if CUDART_VERSION >= 12080
MEMTRACE_API cudaError_t cudaMemcpyBatchAsync(
#if CUDART_VERSION >= 13000
    void* const* to, const void* const* from, const std::size_t* bytes, std::size_t count,
    cudaMemcpyAttributes*, std::size_t*, std::size_t, cudaStream_t stream) {
#else
    void** to, void** from, std::size_t* bytes, std::size_t count, cudaMemcpyAttributes*,
    std::size_t*, std::size_t, std::size_t* failed, cudaStream_t stream) {
  if (failed) *failed = SIZE_MAX;
#endif
  if (!to || !from || !bytes || count == 0) return remember(cudaErrorInvalidValue);
  for (std::size_t i = 0; i < count; ++i) {
    const strided_copy one = copies::linear(to[i], from[i], bytes[i]);
    const cudaError_t error = copy(one, cudaMemcpyDefault, stream, false);
    if (error != cudaSuccess) return remember(error);
  }
  return cudaSuccess;
}
#endif
