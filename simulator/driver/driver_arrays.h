// SPDX-License-Identifier: Apache-2.0
//
// CUDA arrays as the driver's structures describe them. The context has been checked.
#pragma once

#include <cuda.h>

namespace memtrace::simulator::driver_arrays {

[[nodiscard]] CUresult create(CUarray& result, const CUDA_ARRAY3D_DESCRIPTOR& shape);
// Error 400: no such array.
[[nodiscard]] CUresult describe(CUDA_ARRAY3D_DESCRIPTOR& result, CUarray array);

}  // namespace memtrace::simulator::driver_arrays
