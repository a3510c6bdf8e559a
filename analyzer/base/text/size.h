// SPDX-License-Identifier: Apache-2.0
//
// Sizes as people write them. CLI11's AsSizeValue takes no fractions, which GPUs' sizes have.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace memtrace::text {

// Bytes of "24GiB", "512 MiB", "1.5T", "80G" (binary), "80GB", "512 MB" (SI: powers of 1000), "17B"
// or "1000"; empty: no size, or more than there can be.
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text);

}  // namespace memtrace::text
