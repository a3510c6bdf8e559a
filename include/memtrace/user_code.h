// SPDX-License-Identifier: Apache-2.0
//
// Whose code a file is, by its name alone: the one rule that the recorder chooses by whose
// text it records, and that the analyzer shows frames by.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace memtrace {

// The file of the only frame, line 0, of memory that was there when the recording began.
namespace format {
inline constexpr char before_recording[] = "<before the recording>";
}

namespace user_code_detail {

[[nodiscard]] constexpr bool is_digit(char letter) noexcept {
  return letter >= '0' && letter <= '9';
}

// …/lib/python3.11/…, …/lib/python3/dist-packages/…, …/python311.zip/…
[[nodiscard]] constexpr bool is_in_python_library(std::string_view file) noexcept {
  constexpr std::string_view library = "/python";
  for (auto at = file.find(library); at != std::string_view::npos;
       at = file.find(library, at + 1)) {
    auto rest = file.substr(at + library.size());
    if (rest.empty() || !is_digit(rest[0])) continue;
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

// Where a system has its libraries and their headers (Filesystem Hierarchy Standard), and CUDA its
// toolkit. Python's own files may be anybody's there; containers have applications in /usr/src.
[[nodiscard]] constexpr bool is_of_system(std::string_view file) noexcept {
  constexpr std::array folders = {std::string_view("/lib/"),
                                  std::string_view("/lib64/"),
                                  std::string_view("/usr/lib/"),
                                  std::string_view("/usr/lib64/"),
                                  std::string_view("/usr/include/"),
                                  std::string_view("/usr/local/lib/"),
                                  std::string_view("/usr/local/include/")};
  if (file.ends_with(".py")) return false;
  if (std::ranges::any_of(folders, [&](auto folder) { return file.starts_with(folder); })) {
    return true;
  }
  constexpr std::string_view toolkit = "/usr/local/cuda";  // and /usr/local/cuda-13.0
  if (!file.starts_with(toolkit)) return false;
  const auto rest = file.substr(toolkit.size());
  return rest.starts_with('/') || (rest.size() > 1 && rest[0] == '-' && is_digit(rest[1]));
}

// <string>, <stdin> and notebooks' <ipython-input-…> are what somebody typed; <frozen …>,
// <eval_with_key>.3 (torch.fx) and the like are not.
[[nodiscard]] constexpr bool is_typed_in(std::string_view file) noexcept {
  constexpr std::array typed = {std::string_view("<string>"), std::string_view("<stdin>"),
                                std::string_view("<ipython-input")};
  return std::ranges::any_of(typed, [&](auto start) { return file.starts_with(start); });
}

// …/4f/c4flxli5…syp.py: torch.compile's Inductor names a file after the hash of what is in it, and
// its directory after the first of that, wherever TORCHINDUCTOR_CACHE_DIR is.
[[nodiscard]] constexpr bool is_generated(std::string_view file) noexcept {
  constexpr std::string_view ending = ".py";
  constexpr std::size_t hash = 52, part = 2;
  constexpr std::size_t length = part + 1 + hash + ending.size();
  if (file.size() <= length || !file.ends_with(ending)) return false;
  const auto tail = file.substr(file.size() - length);
  const auto name = tail.substr(part + 1, hash);
  const auto is_of_hash = [](char letter) {
    return (letter >= 'a' && letter <= 'z') || is_digit(letter);
  };
  return file[file.size() - length - 1] == '/' && tail[part] == '/' && name.front() == 'c' &&
         name.substr(1, part) == tail.substr(0, part) && std::ranges::all_of(name, is_of_hash);
}

}  // namespace user_code_detail

// Files of the system that are no Python.
[[nodiscard]] constexpr bool is_system_code(std::string_view file) noexcept {
  return user_code_detail::is_of_system(file);
}

// False for the standard library, installed packages, and code without a file that a library
// made (frozen modules, torch.fx, torch.compile).
[[nodiscard]] constexpr bool is_user_code(std::string_view file) noexcept {
  if (file.empty() || user_code_detail::is_generated(file)) return false;
  if (file.front() == '<') return user_code_detail::is_typed_in(file);
  constexpr std::array libraries = {std::string_view("/site-packages/"),
                                    std::string_view("/dist-packages/"),
                                    std::string_view("/torchinductor_")};
  if (std::ranges::any_of(libraries, [&](auto part) { return file.find(part) != file.npos; })) {
    return false;
  }
  return !user_code_detail::is_of_system(file) && !user_code_detail::is_in_python_library(file);
}

}  // namespace memtrace
