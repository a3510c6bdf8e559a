// SPDX-License-Identifier: Apache-2.0
//
// The fields of records (memtrace/records.h): what a privacy copy leaves of each.
#pragma once

#include <cstdint>
#include <string_view>

namespace memtrace::record {

// A privacy copy keeps numbers: they do not say who or where.
struct kept_number {};
inline constexpr kept_number kept{};

// With a string.
enum class string_privacy : std::uint8_t {
  words,       // of the program: paths and names in it are hidden
  settings,    // of PyTorch's allocator: the words that are not known are removed
  info_value,  // as the key says, the string before it
  source,      // the program's own text, and what tells it from others: nothing is left
  dictionary,  // as the fields say that name this text
};

// With a text that a field names.
enum class text_privacy : std::uint8_t {
  words,        // of the program: paths and names in it are hidden
  known,        // a name of PyTorch, CUDA or memtrace: stays
  path,         // of a source file
  function,     // stays if its file belongs to an installed package, else words
  counter,      // stays if memtrace counts it, else words
  held_detail,  // the fields of a heap scan's detail: one is a path, the others are words
};

// The dump shows the field where it says itself.
inline constexpr std::string_view elsewhere{};

// The memory pool of an allocation: the two words of PyTorch's MempoolId_t, 0:0 by default.
struct pool_id {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  [[nodiscard]] bool operator==(const pool_id&) const = default;
  [[nodiscard]] bool is_private() const { return first != 0 || second != 0; }
};

}  // namespace memtrace::record
