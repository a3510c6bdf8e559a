// SPDX-License-Identifier: Apache-2.0
//
// Ends of contexts, with all that lived in them: cudaDeviceReset, cuCtxDestroy.
#pragma once

#include "simulator/core/device.h"

namespace memtrace::simulator {

// Waits for the device, frees every allocation of its primary context and its pools, ends the
// context.
[[nodiscard]] cudaError_t reset_device(int device);

// The same for a context of cuCtxCreate. Error 201: no such context.
[[nodiscard]] cudaError_t end_context(CUcontext context);

}  // namespace memtrace::simulator
