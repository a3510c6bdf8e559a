// SPDX-License-Identifier: Apache-2.0
//
// The kernel's files (/proc, control groups): read whole into a given buffer and searched there.
// Allocates nothing; what is not there, or not allowed, is empty.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace memtrace {

// As much as fits into the buffer; lines cut off at its end are left out.
[[nodiscard]] std::string_view read_file(const char* path, std::span<char> buffer) noexcept;

// Leading blanks are skipped; nothing where no digit follows.
[[nodiscard]] std::optional<std::uint64_t> number_in(std::string_view text) noexcept;

// The number in the line that begins with `key`: "VmRSS:\t  1024 kB" has 1024 for "VmRSS:".
[[nodiscard]] std::optional<std::uint64_t> number_after(std::string_view text,
                                                        std::string_view key) noexcept;

// The first line of `text`, which then begins with the next. False at the end.
[[nodiscard]] bool next_line(std::string_view& text, std::string_view& line) noexcept;

// The first field of `text` up to `separator`, which `text` then has lost with it.
[[nodiscard]] std::string_view next_field(std::string_view& text, char separator) noexcept;

// Calls `found(number)` for each entry of a directory whose name is a number. False when the
// directory cannot be read.
template <typename Found>
bool for_each_number(const char* directory, Found found) noexcept;

// The entries of an open directory, as the kernel lists them.
class directory_listing {
 public:
  explicit directory_listing(const char* path) noexcept;
  ~directory_listing();
  directory_listing(const directory_listing&) = delete;
  directory_listing& operator=(const directory_listing&) = delete;
  [[nodiscard]] bool is_open() const noexcept { return file_ >= 0; }
  // The next entry's name; empty at the end.
  [[nodiscard]] std::string_view next() noexcept;

 private:
  int file_;
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
  alignas(8) char entries_[4096];
};

template <typename Found>
bool for_each_number(const char* directory, Found found) noexcept {
  directory_listing listing(directory);
  for (std::string_view name = listing.next(); !name.empty(); name = listing.next()) {
    if (const auto number = number_in(name)) found(*number);
  }
  return listing.is_open();
}

}  // namespace memtrace
