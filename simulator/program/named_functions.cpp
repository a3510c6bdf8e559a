// SPDX-License-Identifier: Apache-2.0
#include "named_functions.h"

#include <cctype>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

#include "nvidia_names.h"

namespace memtrace::simulator {
namespace {

constexpr std::uint64_t largest_file = 8 << 20;  // bytes
constexpr std::size_t shortest_name = 6;         // cuInit; below that it is chance

std::string contents(const std::filesystem::path& path) {
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path, error);
  if (error || size > largest_file) return {};
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool is_fetched_by_name(std::string_view word) {
  if (word.size() < shortest_name || !is_nvidia_function(word)) return false;
  const auto second_part = [&](std::size_t at) {
    return word.size() > at && std::isupper(static_cast<unsigned char>(word[at])) != 0;
  };
  return (word.substr(0, 2) == "cu" && second_part(2)) ||
         (word.substr(0, 4) == "nvml" && second_part(4)) ||
         (word.substr(0, 5) == "nvrtc" && second_part(5));
}

template <class IsEnd>
void add_words(const std::string& bytes, IsEnd is_end, std::set<std::string>& names) {
  std::size_t start = 0;
  for (std::size_t i = 0; i <= bytes.size(); ++i) {
    const char c = i < bytes.size() ? bytes[i] : '\0';
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') continue;
    const std::string_view word(bytes.data() + start, i - start);
    if (is_end(c) && is_fetched_by_name(word)) names.emplace(word);
    start = i + 1;
  }
}

}  // namespace

void add_names_in_binary(const std::filesystem::path& path, std::set<std::string>& names) {
  add_words(
      contents(path), [](char c) { return c == '\0'; }, names);
}

void add_names_in_source(const std::filesystem::path& path, std::set<std::string>& names) {
  add_words(
      contents(path), [](char) { return true; }, names);
}

}  // namespace memtrace::simulator
