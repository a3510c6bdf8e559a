// SPDX-License-Identifier: Apache-2.0
//
// cuSPARSE: matrices, which PyTorch asks for their sizes. The number of elements of a product of
// two sparse matrices depends on their contents: it is 0 here.
#include <cuda_runtime_api.h>
#include <library_types.h>

#include <cstdint>

#include "simulator/core/export.h"

namespace memtrace::simulator::cusparse {
namespace {

enum status : int { success = 0, invalid_value = 3 };

struct sparse_matrix {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t elements;
};

int create(sparse_matrix** to, const sparse_matrix& matrix) {
  if (to == nullptr || matrix.rows < 0 || matrix.columns < 0 || matrix.elements < 0) {
    return invalid_value;
  }
  *to = new sparse_matrix(matrix);
  return success;
}

}  // namespace

MEMTRACE_API int cusparseCreateCsr(sparse_matrix** to, std::int64_t rows, std::int64_t columns,
                                   std::int64_t elements) {
  return create(to, {rows, columns, elements});
}
MEMTRACE_API int cusparseCreateCsc(sparse_matrix** to, std::int64_t rows, std::int64_t columns,
                                   std::int64_t elements) {
  return create(to, {rows, columns, elements});
}
MEMTRACE_API int cusparseCreateCoo(sparse_matrix** to, std::int64_t rows, std::int64_t columns,
                                   std::int64_t elements) {
  return create(to, {rows, columns, elements});
}
MEMTRACE_API int cusparseCreateBsr(sparse_matrix** to, std::int64_t block_rows,
                                   std::int64_t block_columns, std::int64_t blocks,
                                   std::int64_t rows, std::int64_t columns) {
  return create(to, {block_rows * rows, block_columns * columns, blocks * rows * columns});
}
MEMTRACE_API int cusparseDestroySpMat(const sparse_matrix* matrix) {
  delete matrix;
  return success;
}
MEMTRACE_API int cusparseSpMatGetSize(const sparse_matrix* matrix, std::int64_t* rows,
                                      std::int64_t* columns, std::int64_t* elements) {
  if (matrix == nullptr) return invalid_value;
  *rows = matrix->rows;
  *columns = matrix->columns;
  *elements = matrix->elements;
  return success;
}

MEMTRACE_API const char* cusparseGetErrorName(int status) {
  return status == success ? "CUSPARSE_STATUS_SUCCESS" : "CUSPARSE_STATUS_INVALID_VALUE";
}
MEMTRACE_API const char* cusparseGetErrorString(int status) {
  return status == success ? "success" : "invalid value";
}

}  // namespace memtrace::simulator::cusparse
