// SPDX-License-Identifier: Apache-2.0
//
// The words of an allocator configuration, the version of PyTorch that reads them, and the ways in
// which it finds fault with them.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/model/allocator/settings.h"

namespace memtrace::allocator {

// "2.11.0+cu130" in a form that can be compared.
struct torch_release {
  int major = 0;
  int minor = 0;
  [[nodiscard]] auto operator<=>(const torch_release&) const = default;
};

// The release that everything here was checked against.
inline constexpr torch_release newest_release{2, 11};

// The newest where it is not said, or cannot be read.
[[nodiscard]] torch_release release_of(std::string_view torch_version);

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

// Reads a configuration as PyTorch 2.0 to 2.8 does. From its sources, whose release is known only
// roughly; not checked against a running one: tests/answers/allocator has PyTorch 2.11 only.
// Throws `refused`.
void read_before_2_9(std::string_view text, torch_release version, settings& into);

}  // namespace memtrace::allocator
