// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/html/columns.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

namespace memtrace::html {

namespace {

constexpr std::uint64_t most_u8 = std::numeric_limits<std::uint8_t>::max();
constexpr std::uint64_t most_u16 = std::numeric_limits<std::uint16_t>::max();
constexpr std::uint64_t most_u32 = std::numeric_limits<std::uint32_t>::max();

}  // namespace

void column_writer::begin(column made) {
  while (bytes_.size() % 8 != 0) bytes_.push_back(0);
  made.offset = bytes_.size();
  columns_.push_back(std::move(made));
}

// Little-endian, as all processors that this runs on.
template <class Number>
void column_writer::append(const std::vector<std::uint64_t>& values) {
  const auto from = bytes_.size();
  bytes_.resize(from + values.size() * sizeof(Number));
  auto* to = bytes_.data() + from;
  for (const auto value : values) {
    const auto number = static_cast<Number>(value);
    std::memcpy(to, &number, sizeof number);
    to += sizeof number;
  }
}

void column_writer::add_scaled(const std::string& name, std::span<const std::uint64_t> values,
                               column made) {
  made.name = name;
  made.count = values.size();
  made.is_delta = values.size() > 1 && std::ranges::is_sorted(values);
  std::vector<std::uint64_t> raw;
  raw.reserve(values.size());
  std::uint64_t before = 0, most = 0;
  for (const auto value : values) {
    const auto scaled = (value - made.base) / made.scale;
    raw.push_back(made.is_delta ? scaled - std::exchange(before, scaled) : scaled);
    most = std::max(most, raw.back());
  }
  made.type = most <= most_u8 ? "u8" : most <= most_u16 ? "u16" : most <= most_u32 ? "u32" : "f64";
  const auto type = made.type;
  begin(std::move(made));
  if (type == "u8") return append<std::uint8_t>(raw);
  if (type == "u16") return append<std::uint16_t>(raw);
  if (type == "u32") return append<std::uint32_t>(raw);
  append<double>(raw);
}

void column_writer::add(const std::string& name, std::span<const std::uint64_t> values) {
  column made;
  if (!values.empty()) made.base = *std::ranges::min_element(values);
  std::uint64_t common = 0;
  for (const auto value : values) common = std::gcd(common, value - made.base);
  made.scale = std::max<std::uint64_t>(common, 1);
  add_scaled(name, values, std::move(made));
}

void column_writer::add_rounded(const std::string& name, std::span<const std::uint64_t> values) {
  column made;
  if (!values.empty()) {
    const auto [least, most] = std::ranges::minmax(values);
    made.base = least;
    made.scale = (most - least) / most_u32 + 1;
  }
  add_scaled(name, values, std::move(made));
}

void column_writer::add_real(const std::string& name, std::span<const double> values) {
  column made;
  made.name = name;
  made.type = "f64";
  made.count = values.size();
  begin(std::move(made));
  const auto from = bytes_.size();
  bytes_.resize(from + values.size_bytes());
  if (!values.empty()) std::memcpy(bytes_.data() + from, values.data(), values.size_bytes());
}

nlohmann::ordered_json column_writer::directory() const {
  auto list = nlohmann::ordered_json::array();
  for (const auto& one : columns_) {
    list.push_back({{"name", one.name},
                    {"type", one.type},
                    {"count", one.count},
                    {"offset", one.offset},
                    {"delta", one.is_delta},
                    {"base", one.base},
                    {"scale", one.scale}});
  }
  return {{"bytes", bytes_.size()}, {"list", std::move(list)}};
}

std::string column_writer::packed() const {
  std::vector<unsigned char> small(::compressBound(bytes_.size()));
  auto size = static_cast<uLongf>(small.size());
  constexpr int well = 7;
  ::compress2(small.data(), &size, bytes_.data(), bytes_.size(), well);
  return base64({small.data(), size});
}

std::string base64(std::span<const unsigned char> bytes) {
  constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string made;
  made.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto left = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) group = group << 8 | (j < left ? bytes[i + j] : 0u);
    for (std::size_t j = 0; j < 4; ++j) {
      made += j <= left ? letters[group >> (18 - 6 * j) & 63u] : '=';
    }
  }
  return made;
}

}  // namespace memtrace::html
