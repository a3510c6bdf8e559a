// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/fit/value_place.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>

#include "analyzer/base/text/parts.h"

namespace memtrace::fit {

namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

[[nodiscard]] std::vector<std::string> parts_of(const std::string& key) {
  std::vector<std::string> parts;
  std::istringstream in(key);
  for (std::string part; std::getline(in, part, '.');) parts.push_back(part);
  return parts;
}

// Where a comment begins in a line: a # after a space, outside of quotes.
[[nodiscard]] std::size_t comment_at(std::string_view line) {
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (quote != 0) {
      if (line[i] == quote) quote = 0;
    } else if (line[i] == '"' || line[i] == '\'') {
      quote = line[i];
    } else if (line[i] == '#' && (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t')) {
      return i;
    }
  }
  return line.size();
}

[[nodiscard]] std::string key_of(std::string_view line) {
  const auto colon = line.find(':');
  if (colon == line.npos || (colon + 1 < line.size() && line[colon + 1] != ' ')) return {};
  auto name = text::trimmed(line.substr(0, colon));
  if (name.size() > 1 && (name.front() == '"' || name.front() == '\'')) {
    name = name.substr(1, name.size() - 2);
  }
  return std::string(name);
}

}  // namespace

std::optional<config_place> split_config_place(const std::string& text) {
  for (const std::string_view ending : {".yaml:", ".yml:", ".json:"}) {
    const auto at = text.find(ending);
    if (at == text.npos || text[0] == '-') continue;
    const auto colon = at + ending.size() - 1;
    const auto equals = text.find('=', colon);
    if (equals == text.npos || equals == colon + 1) continue;
    return config_place{text.substr(0, colon), text.substr(colon + 1, equals - colon - 1),
                        text.substr(equals + 1)};
  }
  return std::nullopt;
}

bool set_in_json(std::string& text, const std::string& key, const std::string& value) {
  auto document = json::parse(text, nullptr, false, true);
  if (document.is_discarded()) return false;
  auto* at = &document;
  for (const auto& part : parts_of(key)) {
    if (!at->is_object() || !at->contains(part)) return false;
    at = &(*at)[part];
  }
  auto parsed = json::parse(value, nullptr, false);
  *at = parsed.is_discarded() ? json(value) : std::move(parsed);
  text = document.dump(2) + "\n";
  return true;
}

bool set_in_yaml(std::string& text, const std::string& key, const std::string& value) {
  const auto wanted = parts_of(key);
  std::vector<std::pair<std::size_t, std::string>> open;  // indent, key: from the outermost
  std::size_t begin = 0;
  while (begin < text.size()) {
    const auto end = std::min(text.find('\n', begin), text.size());
    const std::string_view line(text.data() + begin, end - begin);
    const auto told = line.substr(0, comment_at(line));
    const auto name = key_of(told);
    if (!name.empty()) {
      const auto indent = told.find_first_not_of(' ');
      while (!open.empty() && open.back().first >= indent) open.pop_back();
      open.emplace_back(indent, name);
      const bool is_it =
          std::ranges::equal(open, wanted, {}, [](const auto& one) { return one.second; });
      if (is_it) {
        const auto colon = told.find(':');
        const auto rest = line.substr(told.size());
        const auto made = std::string(told.substr(0, colon)) + ": " + value +
                          (rest.empty() ? "" : "  " + std::string(rest));
        text.replace(begin, line.size(), made);
        return true;
      }
    }
    begin = end + 1;
  }
  return false;
}

std::string put_into_config(const std::string& file, const std::string& key,
                            const std::string& value, std::vector<std::string>& command,
                            const std::string& folder) {
  std::ifstream in(file, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), {});
  if (!in) return fmt::format("{} cannot be read; name the file as the command does", file);
  const bool is_json = file.ends_with(".json");
  if (!(is_json ? set_in_json(text, key, value) : set_in_yaml(text, key, value))) {
    return fmt::format("{} has no key {}; give the key as outer.inner, of one that the file has",
                       file, key);
  }
  const auto copy = (fs::path(folder) / fs::path(file).filename()).string();
  std::error_code failed;
  fs::create_directories(folder, failed);
  std::ofstream out(copy, std::ios::binary);
  out << text;
  if (!out.flush()) return fmt::format("{} cannot be written", copy);
  bool named = false;
  for (auto& word : command) {
    const auto at = word.rfind(file);
    if (at == word.npos || at + file.size() != word.size()) continue;
    if (at != 0 && word[at - 1] != '=') continue;
    word.replace(at, file.size(), copy);
    named = true;
  }
  if (!named) {
    return fmt::format(
        "the command does not name {}, so that a changed copy cannot be put in its place; name "
        "the file as the command does",
        file);
  }
  return {};
}

}  // namespace memtrace::fit
