// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/allocator/settings_tokens.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "analyzer/model/allocator/settings.h"

namespace memtrace::allocator {

namespace {

// The exception of the conversion carries the function's name and nothing else, and so does what
// PyTorch's user gets to see.
template <typename conversion>
[[nodiscard]] auto converted(const char* name, const std::string& word, conversion convert) {
  try {
    return convert(word);
  } catch (const std::logic_error&) {
    throw refused{name};
  }
}

}  // namespace

std::vector<std::string> split_words(std::string_view text, std::string_view blanks) {
  constexpr std::string_view separators = ",:[]";
  std::vector<std::string> words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) words.push_back(word);
    word.clear();
  };
  for (const char c : text) {
    if (separators.find(c) != separators.npos) {
      end_word();
      words.emplace_back(1, c);
    } else if (blanks.find(c) == blanks.npos) {
      word += c;
    }
  }
  end_word();
  return words;
}

std::uint64_t to_unsigned(const std::string& word) {
  return converted("stoull", word, [](const std::string& text) { return std::stoull(text); });
}

double to_real(const std::string& word) {
  return converted("stod", word, [](const std::string& text) { return std::stod(text); });
}

std::uint64_t to_int(const std::string& word) {
  return static_cast<std::uint64_t>(
      converted("stoi", word, [](const std::string& text) { return std::stoi(text); }));
}

std::uint64_t to_long(const std::string& word) {
  return converted("stoul", word, [](const std::string& text) { return std::stoul(text); });
}

std::uint64_t mebibytes(std::uint64_t count) {
  return std::min(count, unlimited / mebibyte) * mebibyte;
}

torch_release release_of(std::string_view torch_version) {
  torch_release found;
  const auto* const end = torch_version.data() + torch_version.size();
  const auto major = std::from_chars(torch_version.data(), end, found.major);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.') return newest_release;
  const auto minor = std::from_chars(major.ptr + 1, end, found.minor);
  return minor.ec == std::errc() ? found : newest_release;
}

}  // namespace memtrace::allocator
