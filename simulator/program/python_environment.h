// SPDX-License-Identifier: Apache-2.0
// Which Python a command runs, and where that Python's packages are.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace memtrace::simulator {

// The interpreter behind `command`: itself, the one in its first line, or the one named among its
// arguments ("timeout 60 python …"). Empty where it names none.
[[nodiscard]] std::filesystem::path named_interpreter(const std::vector<std::string>& command);

// That one; else $VIRTUAL_ENV's, else the first on PATH. May be empty.
[[nodiscard]] std::filesystem::path find_interpreter(const std::vector<std::string>& command);

// The interpreter's site-packages folders, and those on PYTHONPATH that hold torch. Asks the
// interpreter, at most ten seconds, or the record that an earlier answer left in `cache_dir`.
[[nodiscard]] std::vector<std::filesystem::path> package_folders(
    const std::filesystem::path& interpreter, const std::filesystem::path& cache_dir);

}  // namespace memtrace::simulator
