// SPDX-License-Identifier: Apache-2.0
// A small text file that remembers an answer together with the files it was made from.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace memtrace::simulator {

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
