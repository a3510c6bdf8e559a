// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

namespace memtrace::simulator {

// Frees everything allocated on the device and ends its context, as cudaDeviceReset does.
[[nodiscard]] cudaError_t reset_device(int device);

}  // namespace memtrace::simulator
