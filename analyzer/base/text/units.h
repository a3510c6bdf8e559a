// SPDX-License-Identifier: Apache-2.0
//
// Numbers as people read and write them. Sizes are binary and say so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace memtrace::text {

[[nodiscard]] std::string format_bytes(std::uint64_t bytes);   // 19.31 GiB, 512 KiB, 17 bytes
[[nodiscard]] std::string brief_bytes(std::uint64_t bytes);    // 19.3 GiB: three digits
[[nodiscard]] std::string format_seconds(std::uint64_t ns);    // 3.42 s, 2 min 5 s, 3 h 4 min
[[nodiscard]] std::string format_count(std::uint64_t number);  // 1,234,567

// Sizes as people write them. CLI11's AsSizeValue takes no fractions, which GPUs' sizes have.
// Bytes of "24GiB", "512 MiB", "1.5T", "80G" (binary), "80GB", "512 MB" (SI: powers of 1000), "17B"
// or "1000"; empty: no size, or more than there can be.
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text);
// "10": parse_size() takes it for bytes, and it is no size that anybody means.
[[nodiscard]] bool has_no_unit(std::string_view text);

}  // namespace memtrace::text
