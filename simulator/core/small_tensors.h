// SPDX-License-Identifier: Apache-2.0
//
// Computes the few operations that are computed, on what is known of device memory.
#pragma once

#include "simulator/core/kernel_effects.h"

namespace memtrace::simulator::small_tensors {

// False if a type does not allow it; nothing has changed then.
[[nodiscard]] bool compute(const kernel_effects::bound& launch);

}  // namespace memtrace::simulator::small_tensors
