// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trace/code/frames.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace memtrace::code {

namespace {

// …/lib/python3.11/…, …/lib/python3/dist-packages/…, …/python311.zip/…
[[nodiscard]] bool is_in_python_library(std::string_view file) {
  constexpr std::string_view library = "/python";
  for (auto at = file.find(library); at != std::string_view::npos;
       at = file.find(library, at + 1)) {
    auto rest = file.substr(at + library.size());
    if (rest.empty() || std::isdigit(static_cast<unsigned char>(rest[0])) == 0) continue;
    const auto end = rest.find('/');
    if (end == std::string_view::npos) return false;
    const auto version = rest.substr(0, end);
    if (version.ends_with(".zip")) return true;
    const auto parent = file.substr(0, at);
    const bool below_lib = parent.ends_with("/lib") || parent.ends_with("/lib64");
    // "3", "3.11", and "3.13t" of the build without a GIL
    if (below_lib && version.find_first_not_of("0123456789.t") == std::string_view::npos) {
      return true;
    }
  }
  return false;
}

// <string>, <stdin> and notebooks' <ipython-input-…> are what somebody typed; <frozen …>,
// <eval_with_key>.3 (torch.fx) and the like are not.
[[nodiscard]] bool is_typed_in(std::string_view file) {
  constexpr std::array typed = {std::string_view("<string>"), std::string_view("<stdin>"),
                                std::string_view("<ipython-input")};
  return std::ranges::any_of(typed, [&](auto start) { return file.starts_with(start); });
}

// …/4f/c4flxli5…syp.py: torch.compile's Inductor names a file after the hash of what is in it, and
// its directory after the first of that, wherever TORCHINDUCTOR_CACHE_DIR is.
[[nodiscard]] bool is_generated(std::string_view file) {
  constexpr std::string_view ending = ".py";
  constexpr std::size_t hash = 52, part = 2;
  constexpr std::size_t length = part + 1 + hash + ending.size();
  if (file.size() <= length || !file.ends_with(ending)) return false;
  const auto tail = file.substr(file.size() - length);
  const auto name = tail.substr(part + 1, hash);
  const auto is_of_hash = [](unsigned char letter) {
    return std::islower(letter) != 0 || std::isdigit(letter) != 0;
  };
  return file[file.size() - length - 1] == '/' && tail[part] == '/' && name.front() == 'c' &&
         name.substr(1, part) == tail.substr(0, part) && std::ranges::all_of(name, is_of_hash);
}

}  // namespace

bool is_user_code(std::string_view file) {
  if (file.empty() || is_generated(file)) return false;
  if (file.front() == '<') return is_typed_in(file);
  constexpr std::array libraries = {std::string_view("/site-packages/"),
                                    std::string_view("/dist-packages/"),
                                    std::string_view("/torchinductor_")};
  if (std::ranges::any_of(libraries, [&](auto part) { return file.find(part) != file.npos; })) {
    return false;
  }
  return !is_in_python_library(file);
}

bool is_model_library(std::string_view file) {
  for (const std::string_view packages : {"/site-packages/", "/dist-packages/"}) {
    const auto at = file.rfind(packages);
    if (at != file.npos) return !file.substr(at + packages.size()).starts_with("torch/");
  }
  return false;
}

std::vector<source_frame> frames_of(const trace::dictionary& names, trace::stack_id stack) {
  std::vector<source_frame> frames;
  frames.reserve(names[stack].depth);
  while (stack) {
    const auto node = names[stack];
    const auto frame = names[node.innermost];
    const auto file = names[frame.file];
    frames.push_back(
        {std::string(file), frame.line, std::string(names[frame.function]), is_user_code(file)});
    stack = node.parent;
  }
  return frames;
}

std::vector<std::string> lines_of_file(const std::string& file) {
  constexpr std::uintmax_t most_bytes = 4u << 20;  // of a file that somebody wrote
  std::error_code failed;
  // Neither a device nor a pipe that never ends.
  if (!std::filesystem::is_regular_file(file, failed) ||
      std::filesystem::file_size(file, failed) > most_bytes || failed) {
    return {};
  }
  std::ifstream content(file);
  std::vector<std::string> lines;
  for (std::string text; std::getline(content, text);) lines.push_back(std::move(text));
  return lines;
}

}  // namespace memtrace::code
