// SPDX-License-Identifier: Apache-2.0
// Which library and function names are NVIDIA's, and which of them a file asks for.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>

namespace memtrace::simulator {

// "libcudart.so.13", and "libcudart.1a2b3c4d.so.13" as wheels rename what they bundle.
[[nodiscard]] bool is_nvidia_library(std::string_view file_name);

// A name that a program is linked with, which the loader looks for: installed or bundled.
[[nodiscard]] bool is_nvidia_soname(std::string_view soname);

[[nodiscard]] bool is_nvidia_function(std::string_view name);

// A function that NVIDIA's libraries define, by its own name or the file its version names.
[[nodiscard]] bool is_nvidia_symbol(std::string_view name, std::string_view version_file);

// The major version in libcudart's soname; 0 for other names.
[[nodiscard]] unsigned runtime_major(std::string_view soname);

// Functions that are fetched by name at run time (dlsym, cudaGetDriverEntryPoint): their names
// stand as strings in the extension or as words in a source that is compiled on the user's machine.
// Large files are skipped: what they ask for by name is in the table of known functions.
void add_names_in_binary(const std::filesystem::path& path, std::set<std::string>& names);
void add_names_in_source(const std::filesystem::path& path, std::set<std::string>& names);

}  // namespace memtrace::simulator
