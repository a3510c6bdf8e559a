// SPDX-License-Identifier: Apache-2.0
//
// Stream capture: per stream, joined by events, with the error codes of the real API.
#pragma once

#include <cuda_runtime_api.h>

namespace memtrace::simulator {

struct stream;

namespace capture {

// Whether the stream is capturing (also when the capture has been invalidated).
[[nodiscard]] bool capturing(const stream& stream);

// For calls that the documentation names potentially unsafe during a capture (cudaMalloc, cudaFree,
// cudaHostAlloc, cudaHostRegister …): cudaSuccess, or error 900 if a capture in this thread, or a
// global-mode capture in any thread, prohibits them; that capture is invalidated then, so that
// ending it is error 901. Costs one load while nothing is being captured.
[[nodiscard]] cudaError_t unsafe_call();

// For calls that wait for a whole device (cudaDeviceSynchronize, cudaDeviceReset): error 900 if any
// stream of the device is capturing, in any mode; invalidates like unsafe_call.
[[nodiscard]] cudaError_t device_wide_call(int device);

}  // namespace capture
}  // namespace memtrace::simulator
