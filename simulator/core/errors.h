// SPDX-License-Identifier: Apache-2.0
//
// The calling thread's last error, as cudaGetLastError sees it. Result codes of the runtime and the
// driver have the same numbers, so one type serves both.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace memtrace::simulator {

// Every runtime entry point returns through this: it remembers what is not success.
cudaError_t remember(cudaError_t error);

[[nodiscard]] inline CUresult driver_result(cudaError_t error) {
  return static_cast<CUresult>(error);
}

}  // namespace memtrace::simulator
