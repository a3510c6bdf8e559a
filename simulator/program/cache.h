// SPDX-License-Identifier: Apache-2.0
// The folder in which the simulator keeps what it made, and a small text file there that remembers
// an answer together with the files it was made from.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "result.h"

namespace memtrace::simulator {

// A folder that this user owns and nobody else may write: `wanted`, or if that is empty the first
// that works of $XDG_CACHE_HOME/memtrace, ~/.cache/memtrace and $TMPDIR/memtrace-UID.
[[nodiscard]] result<std::filesystem::path> open_cache_directory(
    const std::filesystem::path& wanted);

struct cache_record {
  std::vector<std::filesystem::path> inputs;
  std::vector<std::string> values;
};

// The values, if every input still has the time and size (of folders: the time) noted then.
[[nodiscard]] std::optional<std::vector<std::string>> load_record(
    const std::filesystem::path& file);

// Replaces the file in one step. A failure costs only the next start some time.
void save_record(const std::filesystem::path& file, const cache_record& record);

// 16 hexadecimal digits (FNV-1a) that stand for the parts, in their order.
[[nodiscard]] std::string fingerprint(const std::vector<std::string>& parts);

// Time and size of a file as text; empty if it cannot be read.
[[nodiscard]] std::string stamp(const std::filesystem::path& path);

}  // namespace memtrace::simulator
