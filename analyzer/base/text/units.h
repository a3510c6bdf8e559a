// SPDX-License-Identifier: Apache-2.0
//
// Numbers for people. Sizes are binary and say so.
#pragma once

#include <cstdint>
#include <string>

namespace memtrace::text {

[[nodiscard]] std::string format_bytes(std::uint64_t bytes);   // 8.31 GiB, 512.00 KiB, 17 bytes
[[nodiscard]] std::string format_seconds(std::uint64_t ns);    // 3.42 s, 2 min 5 s, 3 h 4 min
[[nodiscard]] std::string format_count(std::uint64_t number);  // 1,234,567

}  // namespace memtrace::text
