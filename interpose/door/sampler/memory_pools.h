// SPDX-License-Identifier: Apache-2.0
//
// The memory that this process's stream-ordered pools and graphs reserve of a device, asked of the
// driver in a thread of the program.
#pragma once

#include <cstdint>
#include <optional>

#include "interpose/ground/driver/driver_queries.h"

namespace memtrace::sampler {

// The device's pools and those that the program made.
[[nodiscard]] std::optional<std::uint64_t> reserved_by_pools(const driver_queries& driver,
                                                             std::uint32_t device) noexcept;
[[nodiscard]] std::optional<std::uint64_t> reserved_by_graphs(const driver_queries& driver,
                                                              std::uint32_t device) noexcept;

// A pool that the program made. More than some hundred at a time are left out, and then the sum is
// not known.
void add_pool(std::uint64_t pool, std::uint32_t device) noexcept;
// Before it is destroyed. Returns once nobody asks about it.
void remove_pool(std::uint64_t pool) noexcept;
void forget_askers() noexcept;  // in a forked child

}  // namespace memtrace::sampler
