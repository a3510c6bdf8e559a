// SPDX-License-Identifier: Apache-2.0
//
// The calling thread's last error, as cudaGetLastError sees it. Result codes of the runtime and the
// driver have the same numbers, so one type serves both.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace memtrace::simulator {

// Every runtime entry point returns through this: it remembers what is not success. (Not ready is
// an answer of a query and no error: the real runtime does not keep it either.)
cudaError_t remember(cudaError_t error);

[[nodiscard]] cudaError_t peek_last_error();
[[nodiscard]] cudaError_t take_last_error();

struct error_description {
  int code;
  const char* runtime_name;  // null if the runtime has no such code
  const char* driver_name;   // null if the driver has no such code
  const char* text;
};

// Null for a number that is no code.
[[nodiscard]] const error_description* describe_error(int code);

[[nodiscard]] inline CUresult driver_result(cudaError_t error) {
  return static_cast<CUresult>(error);
}

}  // namespace memtrace::simulator
