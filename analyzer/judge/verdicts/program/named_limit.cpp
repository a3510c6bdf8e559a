// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/program/named_limit.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <regex>
#include <vector>

#include "analyzer/base/text/numbers.h"

namespace memtrace::verdicts {

namespace {

template <std::size_t Count>
[[nodiscard]] bool is_one_of(const std::array<std::string_view, Count>& words,
                             const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

// An attribute may have any text for a name, which is no pattern then.
[[nodiscard]] bool is_plain(std::string_view name) {
  return std::ranges::all_of(
      name, [](unsigned char letter) { return std::isalnum(letter) != 0 || letter == '_'; });
}

// "replay_limit": replay, limit.
[[nodiscard]] std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (const unsigned char letter : name) {
    if (letter == '_') {
      words.emplace_back();
    } else {
      words.back() += static_cast<char>(std::tolower(letter));
    }
  }
  std::erase(words, "");
  return words;
}

// "n_estimators" of "estimators_", "max_snapshots" of "snapshots", "num_prototype" of "prototypes".
[[nodiscard]] bool counts(std::string_view name, std::string_view container) {
  constexpr std::array<std::string_view, 4> say = {"n", "num", "max", "number"};
  const auto words = words_of(name);
  const auto of = words_of(container);
  if (words.size() != of.size() + 1 || !is_one_of(say, words[0])) return false;
  const auto singular = [](std::string_view word) {
    return word.ends_with('s') ? word.substr(0, word.size() - 1) : word;
  };
  return std::equal(of.begin(), of.end(), words.begin() + 1, [&](const auto& one, const auto& two) {
    return singular(one) == singular(two);
  });
}

// Of a function that names the container.
[[nodiscard]] std::optional<std::size_t> line_with(const program_text& program,
                                                   const std::string& container,
                                                   const std::string& name) {
  const std::regex word("\\b" + name + "\\b");
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (!program.names(i, name) || !std::regex_search(program.at(i), word)) continue;
    const auto function = program.function_of(i);
    if (!function || program.name_of_function(i) == "__init__") continue;
    for (auto k = *function + 1; k < program.end_of(*function); ++k) {
      if (program.names(k, container)) return i;
    }
  }
  return std::nullopt;
}

}  // namespace

bool names_a_capacity(std::string_view name) {
  constexpr std::array<std::string_view, 8> say = {"capacity", "cap",   "limit",  "maxlen",
                                                   "maxsize",  "quota", "budget", "maximum"};
  constexpr std::array<std::string_view, 9> most_of = {
      "size", "items", "entries", "elements", "samples", "frames", "keep", "kept", "history"};
  constexpr std::array<std::string_view, 10> sized = {
      "buffer", "queue", "bank", "memory", "mem", "cache", "replay", "pool", "window", "history"};
  const auto words = words_of(name);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (is_one_of(say, words[i])) return true;
    if (i + 1 == words.size()) break;
    if (words[i] == "max" && is_one_of(most_of, words[i + 1])) return true;
    if (is_one_of(sized, words[i]) && words[i + 1] == "size") return true;
  }
  return false;
}

std::optional<named_limit> limit_beside(const program_text& program, const std::string& container,
                                        std::string_view numbers, std::uint64_t reached) {
  while (!numbers.empty()) {
    const auto one = numbers.substr(0, numbers.find(','));
    numbers.remove_prefix(std::min(numbers.size(), one.size() + 1));
    const auto equals = one.find('=');
    if (equals == one.npos) continue;
    const std::string name(one.substr(0, equals));
    const auto value = text::number_in(one.substr(equals + 1)).value_or(0);
    if (value <= reached || !is_plain(name)) continue;
    if (!names_a_capacity(name) && !counts(name, container)) continue;
    if (const auto line = line_with(program, container, name))
      return named_limit{std::string(one), *line};
  }
  return std::nullopt;
}

}  // namespace memtrace::verdicts
