// SPDX-License-Identifier: Apache-2.0
//
// cuBLASLt: handles, the choice of an algorithm, and products. There is one algorithm; the
// workspace it asks for is a constant (cublaslt_workspace).
#include <cuda_runtime_api.h>
#include <library_types.h>

#include <algorithm>

#include "simulator/core/config.h"
#include "simulator/core/device.h"
#include "simulator/core/export.h"
#include "simulator/core/streams.h"
#include "simulator/libraries/cublas_handle.h"
#include "simulator/libraries/cublaslt_descriptors.h"
#include "simulator/libraries/library_version.h"
#include "simulator/libraries/outputs.h"

namespace memtrace::simulator::cublaslt {
namespace {

using cublas::execution_failed;
using cublas::invalid_value;
using cublas::not_initialized;
using cublas::not_supported;
using cublas::success;

struct algorithm {
  std::uint64_t data[8];
};

struct heuristic_result {
  algorithm algo;
  std::size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};

constexpr std::int32_t only_algorithm = 1;

heuristic_result chosen(std::size_t workspace_bytes) {
  heuristic_result result{};
  result.algo.data[0] = only_algorithm;
  result.workspace_bytes = workspace_bytes;
  result.state = success;
  result.waves = 1;
  return result;
}

// Bytes that the matrices of a layout span. Order 1 is row-major, anything else counts as columns.
std::size_t extent(const attribute_store& layout) {
  const auto rows = static_cast<std::int64_t>(layout.scalar<std::uint64_t>(layout_rows, 0));
  const auto columns = static_cast<std::int64_t>(layout.scalar<std::uint64_t>(layout_columns, 0));
  const std::int64_t leading = layout.scalar<std::int64_t>(layout_leading, rows);
  const bool row_major = layout.scalar<std::int32_t>(layout_order, 0) == 1;
  const std::int64_t lines = row_major ? rows : columns;
  const std::int64_t line = row_major ? columns : rows;
  const std::int64_t batch = layout.scalar<std::int32_t>(layout_batch, 1);
  if (lines <= 0 || line <= 0 || batch <= 0) return 0;
  const std::int64_t stride = layout.scalar<std::int64_t>(layout_batch_stride, 0);
  const std::int64_t elements = (batch - 1) * stride + (lines - 1) * leading + line;
  const auto type = static_cast<cudaDataType>(layout.scalar<std::uint32_t>(layout_type, 0));
  return static_cast<std::size_t>(std::max<std::int64_t>(elements, 0)) * element_bytes(type);
}

int run(const void* layout, void* to, cudaStream_t stream) {
  if (to == nullptr || layout == nullptr) return invalid_value;
  note_written(to, extent(attributes_of(layout)));
  return streams::launch(stream) == cudaSuccess ? success : execution_failed;
}

}  // namespace

MEMTRACE_API int cublasLtCreate(void** to) {
  if (to == nullptr) return invalid_value;
  if (ensure_context() != cudaSuccess) return not_initialized;
  *to = new char;
  return success;
}
MEMTRACE_API int cublasLtDestroy(void* handle) {
  delete static_cast<char*>(handle);
  return success;
}

MEMTRACE_API std::size_t cublasLtGetVersion() {
  return cublas::version;
}
MEMTRACE_API std::size_t cublasLtGetCudartVersion() {
  return CUDART_VERSION;
}
MEMTRACE_API int cublasLtGetProperty(libraryPropertyType part, int* to) {
  if (to == nullptr) return invalid_value;
  const std::optional<int> found = version_part(cublas::version, part);
  if (!found) return invalid_value;
  *to = *found;
  return success;
}
MEMTRACE_API const char* cublasLtGetStatusName(int status) {
  return cublas::status_name(status);
}
MEMTRACE_API const char* cublasLtGetStatusString(int status) {
  return cublas::status_text(status);
}

MEMTRACE_API int cublasLtMatmulAlgoGetHeuristic(void*, const void*, const void*, const void*,
                                                const void*, const void*, const void* preference,
                                                int requested, heuristic_result* results,
                                                int* returned) {
  if (returned == nullptr || results == nullptr || requested < 1) return invalid_value;
  *returned = 0;
  const std::size_t wanted = constant(constant_id::cublaslt_workspace);
  const std::uint64_t allowed =
      attributes_of(preference).scalar<std::uint64_t>(preference_workspace_bytes, 0);
  results[0] = chosen(std::min<std::uint64_t>(wanted, allowed));
  *returned = 1;
  return success;
}

MEMTRACE_API int cublasLtMatmulAlgoGetIds(void*, int, int, int, int, int, int, int requested,
                                          int* ids, int* returned) {
  if (ids == nullptr || returned == nullptr || requested < 1) return invalid_value;
  ids[0] = only_algorithm;
  *returned = 1;
  return success;
}
MEMTRACE_API int cublasLtMatmulAlgoInit(void*, int, int, int, int, int, int, int id,
                                        algorithm* to) {
  if (to == nullptr || id != only_algorithm) return invalid_value;
  *to = chosen(0).algo;
  return success;
}
MEMTRACE_API int cublasLtMatmulAlgoCheck(void*, const void*, const void*, const void*, const void*,
                                         const void*, const algorithm*, heuristic_result* to) {
  if (to == nullptr) return invalid_value;
  *to = chosen(constant(constant_id::cublaslt_workspace));
  return success;
}
MEMTRACE_API int cublasLtMatmulAlgoConfigSetAttribute(algorithm*, int, const void*, std::size_t) {
  return success;
}
// Tiles, stages and so on of the one algorithm: 0 of everything but its number.
MEMTRACE_API int cublasLtMatmulAlgoConfigGetAttribute(const algorithm*, int attribute, void* to,
                                                      std::size_t bytes, std::size_t* written) {
  if (written != nullptr) *written = bytes;
  if (to == nullptr) return bytes == 0 ? success : invalid_value;
  std::memset(to, 0, bytes);
  if (attribute == 0 && bytes >= sizeof only_algorithm) {
    std::memcpy(to, &only_algorithm, sizeof only_algorithm);
  }
  return success;
}

MEMTRACE_API int cublasLtMatmul(void*, const void* descriptor, const void*, const void*,
                                const void*, const void*, const void*, const void*, const void*,
                                const void*, void* result, const void* layout, const algorithm*,
                                void*, std::size_t, cudaStream_t stream) {
  return descriptor == nullptr ? invalid_value : run(layout, result, stream);
}

MEMTRACE_API int cublasLtMatrixTransform(void*, const void*, const void*, const void*, const void*,
                                         const void*, const void*, const void*, void* result,
                                         const void* layout, cudaStream_t stream) {
  return run(layout, result, stream);
}

}  // namespace memtrace::simulator::cublaslt
