// SPDX-License-Identifier: Apache-2.0
//
// Privacy copies of traces.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace memtrace::cli {

struct scrubbed_copies {
  std::vector<std::string> paths;  // in the order of the traces
  std::size_t directories = 0;     // that were hidden
  std::size_t names = 0;
};

// Into the folder, which is made. Nothing, after one sentence on stderr, when one of them cannot
// be.
[[nodiscard]] std::optional<scrubbed_copies> make_scrubbed_copies(
    const std::vector<std::string>& traces, const std::string& folder);

}  // namespace memtrace::cli
