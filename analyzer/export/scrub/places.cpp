// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/scrub/places.h"

#include <algorithm>
#include <cctype>

#include "analyzer/model/attribution/frame_marks.h"
#include "memtrace/user_code.h"

namespace memtrace::scrub {

namespace {

using text = std::string_view;

// Where …/lib/python3.11/…, …/lib64/python3/… or …/python311.zip/… begins, at the '/'.
[[nodiscard]] std::size_t python_library(text path) {
  constexpr text name = "/python";
  for (auto at = path.find(name); at != text::npos; at = path.find(name, at + 1)) {
    auto version = path.substr(at + name.size());
    const auto end = version.find('/');
    if (end == text::npos || end == 0 ||
        std::isdigit(static_cast<unsigned char>(version[0])) == 0) {
      continue;
    }
    version = version.substr(0, end);
    if (version.ends_with(".zip")) return at;
    if (version.find_first_not_of("0123456789.t") != text::npos) continue;
    for (const text folder : {"/lib", "/lib64"}) {
      if (path.substr(0, at).ends_with(folder)) return at - folder.size();
    }
  }
  return text::npos;
}

// Where the part begins that says to whom an installed file belongs; npos of a program's own file.
[[nodiscard]] std::size_t installed_part(text path) {
  if (const auto library = python_library(path); library != text::npos) return library;
  for (const text packages : {"/site-packages/", "/dist-packages/"}) {
    if (const auto at = path.rfind(packages); at != text::npos) return at;
  }
  // A PyTorch that was built where it lies.
  const auto known = attribution::known_part(path);
  return known == text::npos || known == 0 ? text::npos : known - 1;
}

void number(std::map<std::string, std::string, std::less<>>& names, text what) {
  const auto width = std::to_string(names.size()).size();
  std::size_t next = 0;
  for (auto& [path, name] : names) {
    const auto digits = std::to_string(++next);
    name = std::string(what) + std::string(width - digits.size(), '0') + digits;
    if (path.starts_with('/')) name.insert(0, 1, '/');
  }
}

}  // namespace

path_parts parts_of(text path) {
  // Code that is compiled from no file: <string>, <frozen importlib._bootstrap>
  if (path.empty() || path.front() == '<') return {{}, path, false};
  if (is_system_code(path)) return {{}, path, true};
  // Compiled by torch.compile into a directory named after the user, then after the contents.
  constexpr text inductor = "/torchinductor_";
  if (const auto at = path.find(inductor); at != text::npos) {
    const auto rest = path.find('/', at + inductor.size());
    const auto end = at + inductor.size();
    return {path.substr(0, end), rest == text::npos ? text() : path.substr(rest), true};
  }
  if (const auto at = installed_part(path); at != text::npos) {
    return {path.substr(0, at), path.substr(at), true};
  }
  const auto slash = path.rfind('/');
  if (slash == text::npos) return {{}, path, false};
  return {path.substr(0, slash), path.substr(slash), false};
}

void places::add(text path) {
  const auto parts = parts_of(path);
  if (parts.hidden.empty()) return;
  (parts.installed ? installations_ : folders_).emplace(parts.hidden, std::string());
}

void places::settle() {
  number(folders_, "code");
  number(installations_, "env");
  // By this part of its path a report knows such a file.
  for (auto& [path, name] : installations_) {
    if (path.ends_with("/torchinductor_")) name += "/torchinductor_user";
  }
}

std::string places::replaced(text path) const {
  const auto parts = parts_of(path);
  if (parts.hidden.empty()) return std::string(path);
  const auto& names = parts.installed ? installations_ : folders_;
  const auto known = names.find(parts.hidden);
  return (known == names.end() ? std::string("/code") : known->second) + std::string(parts.kept);
}

}  // namespace memtrace::scrub
