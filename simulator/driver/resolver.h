// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <cstdint>

namespace memtrace::simulator {

struct resolved {
  void* function;
  CUdriverProcAddressQueryResult status;
};

// The function that `name` means to a program made for CUDA `version` (12040 is 12.4). Names that
// the simulator lacks go into the call log.
[[nodiscard]] resolved resolve(const char* name, int version, std::uint64_t flags);

}  // namespace memtrace::simulator
