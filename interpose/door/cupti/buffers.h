// SPDX-License-Identifier: Apache-2.0
//
// Memory for CUPTI's records: handed out empty, taken back when read, used again.
#pragma once

#include <cstddef>
#include <cstdint>

namespace memtrace::cupti::buffers {

inline constexpr std::size_t bytes = 512 << 10;

// Null when there is no memory: CUPTI then counts what it drops.
[[nodiscard]] std::uint8_t* take() noexcept;
void give_back(std::uint8_t* buffer) noexcept;

}  // namespace memtrace::cupti::buffers
