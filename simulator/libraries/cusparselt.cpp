// SPDX-License-Identifier: Apache-2.0
//
// cuSPARSELt: its objects lie in the program's memory (512 bytes and more), so what a matrix is, is
// written there.
#include <cuda_runtime_api.h>
#include <library_types.h>

#include <cstdint>
#include <cstring>

#include "simulator/core/export.h"
#include "simulator/core/streams.h"
#include "simulator/libraries/outputs.h"

namespace memtrace::simulator::cusparselt {
namespace {

enum status : int { success = 0, invalid_value = 3, execution_failed = 6 };

struct matrix {
  std::int64_t rows;
  std::int64_t columns;
  cudaDataType type;
};

struct plan {
  matrix sparse;
};

int describe(matrix* to, std::int64_t rows, std::int64_t columns, cudaDataType type) {
  if (to == nullptr || rows <= 0 || columns <= 0) return invalid_value;
  *to = {rows, columns, type};
  return success;
}

// Two of four elements are kept, and 2 bits for each say which.
std::size_t compressed_bytes(const matrix& dense) {
  const auto elements =
      static_cast<std::size_t>(dense.rows) * static_cast<std::size_t>(dense.columns);
  return elements / 2 * element_bytes(dense.type) + elements / 8;
}

int put_sizes(const matrix& dense, std::size_t* compressed, std::size_t* buffer) {
  if (compressed == nullptr || buffer == nullptr) return invalid_value;
  *compressed = compressed_bytes(dense);
  *buffer = 0;
  return success;
}

int clear(void* to, std::size_t bytes) {
  if (to == nullptr) return invalid_value;
  std::memset(to, 0, bytes);
  return success;
}

int launched(cudaStream_t stream) {
  return streams::launch(stream) == cudaSuccess ? success : execution_failed;
}

}  // namespace

// Nothing that would have to be found again lies behind these.
#define MEMTRACE_ACCEPTED(name) \
  MEMTRACE_API int name() {     \
    return success;             \
  }
MEMTRACE_ACCEPTED(cusparseLtInit)
MEMTRACE_ACCEPTED(cusparseLtDestroy)
MEMTRACE_ACCEPTED(cusparseLtMatDescriptorDestroy)
MEMTRACE_ACCEPTED(cusparseLtMatDescSetAttribute)
MEMTRACE_ACCEPTED(cusparseLtMatmulDescSetAttribute)
MEMTRACE_ACCEPTED(cusparseLtMatmulAlgSelectionInit)
MEMTRACE_ACCEPTED(cusparseLtMatmulAlgSelectionDestroy)
MEMTRACE_ACCEPTED(cusparseLtMatmulAlgSetAttribute)
MEMTRACE_ACCEPTED(cusparseLtMatmulPlanDestroy)
MEMTRACE_ACCEPTED(cusparseLtMatmulSearch)

MEMTRACE_API int cusparseLtDenseDescriptorInit(const void*, matrix* to, std::int64_t rows,
                                               std::int64_t columns, std::int64_t, std::uint32_t,
                                               cudaDataType type) {
  return describe(to, rows, columns, type);
}
MEMTRACE_API int cusparseLtStructuredDescriptorInit(const void*, matrix* to, std::int64_t rows,
                                                    std::int64_t columns, std::int64_t,
                                                    std::uint32_t, cudaDataType type) {
  return describe(to, rows, columns, type);
}
// The product and the plan remember the first matrix, which is taken for the sparse one.
MEMTRACE_API int cusparseLtMatmulDescriptorInit(const void*, plan* to, int, int,
                                                const matrix* first) {
  if (to == nullptr || first == nullptr) return invalid_value;
  to->sparse = *first;
  return success;
}
MEMTRACE_API int cusparseLtMatmulPlanInit(const void*, plan* to, const plan* product) {
  if (to == nullptr || product == nullptr) return invalid_value;
  *to = *product;
  return success;
}
MEMTRACE_API int cusparseLtMatmulGetWorkspace(const void*, const plan*, std::size_t* to) {
  if (to == nullptr) return invalid_value;
  *to = 0;
  return success;
}
MEMTRACE_API int cusparseLtMatmulAlgGetAttribute(const void*, const void*, int, void* to,
                                                 std::size_t bytes) {
  return clear(to, bytes);
}
MEMTRACE_API int cusparseLtSpMMACompressedSize(const void*, const plan* from,
                                               std::size_t* compressed, std::size_t* buffer) {
  return from == nullptr ? invalid_value : put_sizes(from->sparse, compressed, buffer);
}
MEMTRACE_API int cusparseLtSpMMACompressedSize2(const void*, const matrix* from,
                                                std::size_t* compressed, std::size_t* buffer) {
  return from == nullptr ? invalid_value : put_sizes(*from, compressed, buffer);
}
MEMTRACE_API int cusparseLtSpMMACompress2(const void*, const matrix* from, int, int, const void*,
                                          void* compressed, void*, cudaStream_t stream) {
  if (from == nullptr) return invalid_value;
  note_written(compressed, compressed_bytes(*from));
  return launched(stream);
}
MEMTRACE_API int cusparseLtMatmul(const void*, const plan*, const void*, const void*, const void*,
                                  const void*, const void*, void*, void*,
                                  const cudaStream_t* streams, std::int32_t count) {
  return launched(count > 0 && streams != nullptr ? streams[0] : nullptr);
}

}  // namespace memtrace::simulator::cusparselt
