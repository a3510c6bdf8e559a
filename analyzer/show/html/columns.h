// SPDX-License-Identifier: Apache-2.0
//
// Columns of numbers as a page holds them: each in the smallest type that has room for it, all
// together one zlib stream in base64. page/README.md says how they are read.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace memtrace::html {

class column_writer {
 public:
  // Every value exactly, below 2^53.
  void add(const std::string& name, std::span<const std::uint64_t> values);
  // To a four-thousand-millionth of their range, where that is beyond 2^32.
  void add_rounded(const std::string& name, std::span<const std::uint64_t> values);
  // NaN: not known.
  void add_real(const std::string& name, std::span<const double> values);

  // {"bytes", "list"}
  [[nodiscard]] nlohmann::ordered_json directory() const;
  [[nodiscard]] std::string packed() const;

 private:
  struct column {
    std::string name;
    std::string_view type;
    std::uint64_t count = 0;
    std::uint64_t offset = 0;
    bool is_delta = false;
    std::uint64_t base = 0;
    std::uint64_t scale = 1;
  };
  void add_scaled(const std::string& name, std::span<const std::uint64_t> values, column made);
  template <class Number>
  void append(const std::vector<std::uint64_t>& values);
  void begin(column made);

  std::vector<column> columns_;
  std::vector<unsigned char> bytes_;
};

// RFC 4648, with padding.
[[nodiscard]] std::string base64(std::span<const unsigned char> bytes);

}  // namespace memtrace::html
