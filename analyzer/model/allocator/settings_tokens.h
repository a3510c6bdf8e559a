// SPDX-License-Identifier: Apache-2.0
//
// The words of an allocator configuration, and the ways in which PyTorch finds fault with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace memtrace::allocator {

// Thrown inside the parsers only: why PyTorch refuses the text.
struct refused {
  std::string what;
};

// Separators , : [ ] are words of their own; `blanks` are passed over wherever they stand.
[[nodiscard]] std::vector<std::string> split_words(std::string_view text, std::string_view blanks);

// As std::stoull and std::stod have it: a leading number is enough ("20MB" is 20), "-1" wraps.
[[nodiscard]] std::uint64_t to_unsigned(const std::string& word);
[[nodiscard]] double to_real(const std::string& word);
// As std::stoi, which PyTorch before 2.9 then takes for unsigned.
[[nodiscard]] std::uint64_t to_int(const std::string& word);
// As std::stoul.
[[nodiscard]] std::uint64_t to_long(const std::string& word);

[[nodiscard]] constexpr bool is_power_of_2(std::uint64_t value) {
  return value != 0 && (value & (value - 1)) == 0;
}

// Mebibytes as PyTorch makes bytes of them: what would overflow is cut off.
[[nodiscard]] std::uint64_t mebibytes(std::uint64_t count);

}  // namespace memtrace::allocator
