// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/scrub/hidden_words.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace memtrace::scrub {

namespace {

// Accounts and machines that tell nothing of anybody.
constexpr auto nobodys = std::to_array<std::string_view>(
    {"root", "user", "users", "admin", "nobody", "ubuntu", "debian", "runner", "jovyan", "vscode",
     "ec2-user", "centos", "localhost", "localdomain", "linux", "shared", "public", "common"});

// A shorter name would be found in words of any text.
constexpr std::size_t shortest = 3;

[[nodiscard]] bool is_of_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0;
}

[[nodiscard]] bool stands_alone(std::string_view text, std::size_t at, std::size_t size) {
  return (at == 0 || !is_of_word(text[at - 1])) &&
         (at + size == text.size() || !is_of_word(text[at + size]));
}

}  // namespace

void hidden_words::add(std::string_view name, kind what) {
  if (name.size() < shortest || std::ranges::find(nobodys, name) != nobodys.end()) return;
  names_.emplace(name, what);
}

void hidden_words::add_user(std::string_view name) {
  add(name, kind::user);
}

void hidden_words::add_host(std::string_view name) {
  add(name, kind::host);
}

void hidden_words::add_users_of(std::string_view path) {
  for (const std::string_view before : {"/home/", "/Users/", "/torchinductor_"}) {
    for (auto at = path.find(before); at != path.npos; at = path.find(before, at + 1)) {
      const auto rest = path.substr(at + before.size());
      add_user(rest.substr(0, rest.find('/')));
    }
  }
}

void hidden_words::settle() {
  words_.clear();
  std::size_t users = 0;
  std::size_t hosts = 0;
  for (const auto& [name, what] : names_) {
    const auto word =
        what == kind::user ? "user" + std::to_string(++users) : "host" + std::to_string(++hosts);
    words_.emplace(name, word);
  }
  // A machine is also called by its name without the domain.
  for (const auto& [name, what] : names_) {
    const auto dot = name.find('.');
    if (what != kind::host || dot == name.npos || dot < shortest) continue;
    const auto word = words_.at(name);
    words_.emplace(name.substr(0, dot), word);
  }
}

std::string hidden_words::replaced(std::string_view text) const {
  std::string made(text);
  for (const auto& [name, word] : words_) {
    for (auto at = made.find(name); at != made.npos; at = made.find(name, at)) {
      if (stands_alone(made, at, name.size())) {
        made.replace(at, name.size(), word);
        at += word.size();
      } else {
        ++at;
      }
    }
  }
  return made;
}

}  // namespace memtrace::scrub
