// SPDX-License-Identifier: Apache-2.0
//
// cudaDeviceSetLimit and which devices opened access to each other: remembered, without effect.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace memtrace::simulator {

// Numbers are those of cudaLimit and CUlimit, which agree. Error 215: no such limit.
namespace limits {
[[nodiscard]] cudaError_t set(int limit, std::size_t value);
[[nodiscard]] cudaError_t get(int limit, std::size_t& value);
}  // namespace limits

// Errors: 101 no such device or the same one, 1 flags, 704 enabled already, 705 not enabled.
namespace peer_access {
[[nodiscard]] cudaError_t enable(int device, int peer, unsigned flags);
[[nodiscard]] cudaError_t disable(int device, int peer);
}  // namespace peer_access

}  // namespace memtrace::simulator
