// SPDX-License-Identifier: Apache-2.0
//
// cuBLASLt's descriptors. A program may place one in memory of its own (…Init) or have it made
// (…Create), so what was set is kept by the descriptor's address.
#pragma once

#include <cstddef>

#include "simulator/libraries/attribute_store.h"
#include "simulator/libraries/cublas_handle.h"

namespace memtrace::simulator::cublaslt {

// cublasLtMatrixLayoutAttribute_t
enum layout_attribute : int {
  layout_type = 0,
  layout_order = 1,
  layout_rows = 2,
  layout_columns = 3,
  layout_leading = 4,
  layout_batch = 5,
  layout_batch_stride = 6,
};
// cublasLtMatmulDescAttributes_t
enum matmul_attribute : int {
  matmul_compute_type = 0,
  matmul_scale_type = 1,
  matmul_pointer_mode = 2,
  matmul_epilogue = 7,
};
// cublasLtMatmulPreferenceAttributes_t
enum preference_attribute : int { preference_workspace_bytes = 1 };

// Begins a descriptor at this address, with these attributes; one that was there is forgotten.
void begin(const void* descriptor, attribute_store attributes);
void end(const void* descriptor);

// A copy of what is set; empty for an unknown address.
[[nodiscard]] attribute_store attributes_of(const void* descriptor);

}  // namespace memtrace::simulator::cublaslt
