// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/fit/value_place.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

namespace memtrace::fit {

namespace {

constexpr std::string_view hole = "{}";

[[nodiscard]] std::string filled(std::string pattern, const std::string& value) {
  for (auto at = pattern.find(hole); at != pattern.npos; at = pattern.find(hole, at)) {
    pattern.replace(at, hole.size(), value);
    at += value.size();
  }
  return pattern;
}

[[nodiscard]] bool is_flag(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && !(word[1] >= '0' && word[1] <= '9');
}

// "--batch-size=" of "--batch-size=8", "train.batch=" of "train.batch=8"; empty: it is no such
// word.
[[nodiscard]] std::string_view name_with_equals(std::string_view word) {
  const auto equals = word.find('=');
  return equals == word.npos || equals == 0 ? std::string_view() : word.substr(0, equals + 1);
}

// --batch-size and --batch_size are the same flag to many parsers, and never two different ones.
[[nodiscard]] bool same_name(std::string_view one, std::string_view other) {
  return std::ranges::equal(one, other, [](char a, char b) {
    return a == b || ((a == '-' || a == '_') && (b == '-' || b == '_'));
  });
}

// Where the flag's words begin, and how many they are; count 0: it is not there.
struct found_words {
  std::size_t at = 0;
  std::size_t count = 0;
  bool joined = false;  // --flag=value, in one word
};

[[nodiscard]] found_words find_group(const std::vector<std::string>& command,
                                     const std::vector<std::string>& group) {
  const auto joined = name_with_equals(group.front());
  const std::string_view name =
      joined.empty() ? std::string_view(group.front()) : joined.substr(0, joined.size() - 1);
  const bool dashed = is_flag(group.front());
  for (std::size_t i = command.size(); i-- > 1;) {
    const std::string_view word = command[i];
    if (const auto own = name_with_equals(word);
        !own.empty() && same_name(own.substr(0, own.size() - 1), name)) {
      return {i, 1, true};
    }
    if (!dashed || !same_name(word, name)) continue;
    const auto values = joined.empty() ? group.size() - 1 : 1;
    std::size_t count = 1;
    while (count <= values && i + count < command.size() && !is_flag(command[i + count])) ++count;
    return {i, count, false};
  }
  return {};
}

void put_group(const std::vector<std::string>& group, std::vector<std::string>& command) {
  const auto place = find_group(command, group);
  auto words = group;
  if (place.count == 0) {
    command.insert(command.end(), words.begin(), words.end());
    return;
  }
  if (place.joined && words.size() == 2) {  // written as it was
    words = {std::string(name_with_equals(command[place.at])) + words[1]};
  } else if (!place.joined && words.size() == 1 && !name_with_equals(words[0]).empty()) {
    const auto equals = words[0].find('=');
    words = {command[place.at], words[0].substr(equals + 1)};
  } else if (!place.joined) {
    words[0] = command[place.at];
  }
  const auto begin = command.begin() + static_cast<std::ptrdiff_t>(place.at);
  command.erase(begin, begin + static_cast<std::ptrdiff_t>(place.count));
  command.insert(command.begin() + static_cast<std::ptrdiff_t>(place.at), words.begin(),
                 words.end());
}

[[nodiscard]] std::vector<std::vector<std::string>> groups_of(
    const std::vector<std::string>& words) {
  std::vector<std::vector<std::string>> groups;
  for (const auto& word : words) {
    const bool begins = groups.empty() || is_flag(word) || !name_with_equals(word).empty();
    if (begins) groups.emplace_back();
    groups.back().push_back(word);
  }
  return groups;
}

}  // namespace

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  bool open = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char now = text[i];
    if (quote == 0 && (now == ' ' || now == '\t' || now == '\n')) {
      open = false;
      continue;
    }
    if (!open) words.emplace_back();
    open = true;
    if (quote != 0 && now == quote) {
      quote = 0;
    } else if (quote == 0 && (now == '\'' || now == '"')) {
      quote = now;
    } else if (now == '\\' && quote != '\'' && i + 1 < text.size()) {
      words.back() += text[++i];
    } else {
      words.back() += now;
    }
  }
  return words;
}

void put_words(const std::vector<std::string>& words, launch& into) {
  for (const auto& group : groups_of(words)) put_group(group, into.command);
}

std::variant<value_place, complaint> value_place::parse(const std::string& text,
                                                        const std::string& option) {
  value_place made;
  made.text_ = text;
  if (text.find(hole) == text.npos) {
    return complaint{
        fmt::format("{} '{}' has no {{}} where the value goes; write {} '--batch-size {{}}', "
                    "'env:BATCH={{}}' or 'config.yaml:train.batch={{}}'",
                    option, text, option)};
  }
  if (text.starts_with("env:")) {
    const auto equals = text.find('=');
    if (equals == text.npos || equals < 5 || equals > text.find(hole)) {
      return complaint{fmt::format("{} '{}': write env:NAME={{}}", option, text)};
    }
    made.kind_ = kind::variable;
    made.name_ = text.substr(4, equals - 4);
    made.pattern_ = text.substr(equals + 1);
    return made;
  }
  if (const auto split = split_config_place(text)) {
    made.kind_ = kind::file;
    made.file_ = split->file;
    made.name_ = split->key;
    made.pattern_ = split->value;
    return made;
  }
  made.groups_ = groups_of(words_of(text));
  return made;
}

std::string value_place::value_in(const launch& of) const {
  if (kind_ != kind::words) return {};
  for (const auto& group : groups_) {
    if (std::ranges::none_of(group, [](const auto& w) { return w.find(hole) != w.npos; })) continue;
    const auto place = find_group(of.command, group);
    if (place.count == 0) continue;
    const auto& word = of.command[place.at];
    if (place.joined) return word.substr(word.find('=') + 1);
    if (place.count > 1) return of.command[place.at + 1];
  }
  return {};
}

std::string value_place::put(const std::string& value, launch& into,
                             const std::string& folder) const {
  switch (kind_) {
    case kind::words:
      for (auto group : groups_) {
        for (auto& word : group) word = filled(word, value);
        put_group(group, into.command);
      }
      return {};
    case kind::variable:
      std::erase_if(into.environment, [&](const auto& one) { return one.first == name_; });
      into.environment.emplace_back(name_, filled(pattern_, value));
      return {};
    case kind::file:
      return put_into_config(file_, name_, filled(pattern_, value), into.command, folder);
  }
  return {};
}

}  // namespace memtrace::fit
