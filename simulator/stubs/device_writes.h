// SPDX-License-Identifier: Apache-2.0
// Results that a generated function leaves in device memory, which has no pages to write to.
#pragma once

#include <cstddef>
#include <cstdint>

namespace memtrace::simulator {

[[nodiscard]] bool is_on_device(std::uint64_t address);

// A number that says "success" or "none": reading it back gives 0, also from what follows it.
void zero_on_device(std::uint64_t address, std::size_t bytes);

// An array that the function computed: what an earlier upload put there is gone.
void computed_on_device(std::uint64_t address);

}  // namespace memtrace::simulator
