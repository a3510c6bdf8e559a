// SPDX-License-Identifier: Apache-2.0
// Functions that are fetched by name at run time (dlsym, cudaGetDriverEntryPoint): their names
// stand as strings in the extension or as words in a source that is compiled on the user's machine.
#pragma once

#include <filesystem>
#include <set>
#include <string>

namespace memtrace::simulator {

// Large files are skipped: what they ask for by name is in the table of known functions.
void add_names_in_binary(const std::filesystem::path& path, std::set<std::string>& names);
void add_names_in_source(const std::filesystem::path& path, std::set<std::string>& names);

}  // namespace memtrace::simulator
