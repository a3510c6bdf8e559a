// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/scrub/disguise.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "memtrace/environment.h"
#include "memtrace/trace_format.h"

namespace memtrace::scrub {

namespace {

[[nodiscard]] bool is_of_path(char letter) {
  const auto byte = static_cast<unsigned char>(letter);
  return byte >= 0x80 || std::isalnum(byte) != 0 ||
         std::string_view("/._-+@~%=#").find(letter) != std::string_view::npos;
}

// A path with a directory in a sentence or a name ("cannot create a file in /data/ada/runs (…)"):
// a range of the text, from `from` on; empty at the end of the text where there is none.
[[nodiscard]] std::string_view next_path(std::string_view text, std::size_t from) {
  for (auto start = from; start < text.size();) {
    if (!is_of_path(text[start])) {
      ++start;
      continue;
    }
    auto end = start;
    while (end < text.size() && is_of_path(text[end])) ++end;
    // The sentence's own full stop.
    auto path = text.substr(start, end - start);
    while (path.ends_with('.')) path.remove_suffix(1);
    // "name=/data/x": what is before the first '=' is no part of it.
    if (const auto sign = path.find('='); sign < path.find('/')) path.remove_prefix(sign + 1);
    const auto slash = path.find('/');
    // "1/2", "and/or" and "train/forward" are no paths; neither is "/".
    const bool is_rooted = slash == 0 || path.starts_with("~") || path.starts_with(".");
    if (slash != path.npos && path.find_first_not_of('/', slash) != path.npos &&
        (is_rooted || path.ends_with(".py"))) {
      return path;
    }
    start = end;
  }
  return {};
}

// `replace(path)` for every path of the text.
template <class F>
[[nodiscard]] std::string with_paths_replaced(std::string_view text, const F& replace) {
  std::string made;
  std::size_t done = 0;
  for (auto path = next_path(text, 0); !path.empty(); path = next_path(text, done)) {
    const auto at = static_cast<std::size_t>(path.data() - text.data());
    made += text.substr(done, at - done);
    made += replace(path);
    done = at + path.size();
  }
  return made += text.substr(done);
}

namespace key = format::info_key;

constexpr auto numbers = std::to_array<std::string_view>(
    {key::rank, key::local_rank, key::world_size, key::running_ranks, key::cuda_runtime,
     key::cuda_driver, key::exit_status, key::main_thread});
// memtrace's own sentences about the software; a reason may name a path.
constexpr auto sentences = std::to_array<std::string_view>(
    {key::torch, key::python, key::simulated, key::python_stacks, key::mode, key::capabilities,
     key::refused, key::event_source, key::memtrace_version, key::agent, key::autograd});

template <class List>
[[nodiscard]] bool is_one_of(const List& list, std::string_view name) {
  return std::ranges::find(list, name) != list.end();
}

[[nodiscard]] std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

// A path in a sentence may be that of a directory: then its last name is hidden, too.
[[nodiscard]] bool may_be_directory(std::string_view path) {
  return base_name(path).find('.') == std::string_view::npos;
}

// The program and, of an interpreter, what it runs: "python train.py".
[[nodiscard]] std::string program_of(std::string_view command) {
  const auto end = command.find('\0');
  std::string made(base_name(command.substr(0, end)));
  if (end == command.npos) return made;
  const auto rest = command.substr(end + 1);
  const auto script = rest.substr(0, rest.find('\0'));
  if (!script.starts_with('-') && script.ends_with(".py")) {
    made += '\0';
    made += base_name(script);
  }
  return made;
}

// `path(field)` for those that are a path, `other(field)` for each other one.
template <class Path, class Other>
[[nodiscard]] std::string with_fields_replaced(std::string_view detail,
                                               std::span<const unsigned> file_fields,
                                               const Path& path, const Other& other) {
  constexpr char separator = 0x1f;
  std::string made;
  for (unsigned field = 0;; ++field) {
    const auto end = detail.find(separator);
    const auto value = detail.substr(0, end);
    const bool is_file = std::ranges::find(file_fields, field) != file_fields.end();
    made += is_file ? path(value) : other(value);
    if (end == detail.npos) return made;
    made += separator;
    detail.remove_prefix(end + 1);
  }
}

// Of a heap scan's detail.
constexpr unsigned file_of_detail[] = {3};

}  // namespace

void disguise::learn_path(std::string_view path) {
  places_.add(path);
  words_.add_users_of(path);
}

void disguise::learn(std::string_view text, unsigned roles) {
  if ((roles & role::file) != 0) return learn_path(text);
  if ((roles & role::known) != 0) return;
  if ((roles & role::held_detail) != 0) {
    (void)with_fields_replaced(
        text, file_of_detail, [this](auto value) { return learn_path(value), std::string(); },
        [this](auto value) { return learn(value, 0), std::string(); });
    return;
  }
  (void)with_paths_replaced(text, [this](std::string_view path) {
    learn_path(may_be_directory(path) ? std::string(path) + '/' : std::string(path));
    return std::string();
  });
}

void disguise::learn_info(std::string_view name, std::string_view value) {
  if (name == key::host) {
    words_.add_host(value);
  } else if (name == key::command) {
    for (auto rest = value; !rest.empty();) {
      const auto end = rest.find('\0');
      words_.add_users_of(rest.substr(0, end));
      rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    }
  } else if (is_one_of(sentences, name)) {
    learn(value, 0);
  }
}

void disguise::settle() {
  places_.settle();
  words_.settle();
}

std::string disguise::path(std::string_view path) const {
  const auto made = places_.replaced(path);
  return parts_of(path).installed ? made : words_.replaced(made);
}

std::string disguise::sentence(std::string_view text) const {
  const auto made = with_paths_replaced(text, [this](std::string_view found) {
    if (!may_be_directory(found)) return path(found);
    auto folder = path(std::string(found) + '/');
    if (folder.ends_with('/')) folder.pop_back();
    return folder;
  });
  return words_.replaced(made);
}

std::string disguise::text(std::string_view text, unsigned roles) const {
  if ((roles & role::file) != 0) return path(text);
  if ((roles & role::known) != 0) return std::string(text);
  if ((roles & role::held_detail) != 0) {
    return with_fields_replaced(
        text, file_of_detail, [this](auto value) { return path(value); },
        [this](auto value) { return sentence(value); });
  }
  return sentence(text);
}

std::string disguise::info(std::string_view name, std::string_view value) const {
  if (name == key::command) return words_.replaced(program_of(value));
  if (name == key::host) return words_.replaced(value);
  // Equal names stay equal, whatever somebody called the run.
  if (name == key::run) return fmt::format("{:x}", std::hash<std::string_view>{}(value));
  if (name == key::proved) {
    return with_fields_replaced(
        value, format::proved_file_fields, [this](auto field) { return path(field); },
        [this](auto field) { return sentence(field); });
  }
  if (is_one_of(numbers, name)) return scrubbed_number(value);
  if (is_one_of(sentences, name)) return sentence(value);
  if (name == key::alloc_conf || name.ends_with("ALLOC_CONF")) return scrubbed_settings(value);
  return scrubbed_value(value);
}

}  // namespace memtrace::scrub
