// SPDX-License-Identifier: Apache-2.0
//
// The contexts that the program made beside the devices' own: what is allocated in one ends with
// it. Most programs make none, and are not asked which is current.
#pragma once

#include <cstdint>

namespace memtrace::made_contexts {

void add(std::uint64_t context) noexcept;
void remove(std::uint64_t context) noexcept;

// The calling thread's context if it is one of them, else 0.
[[nodiscard]] std::uint64_t current() noexcept;

}  // namespace memtrace::made_contexts
