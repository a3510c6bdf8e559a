// SPDX-License-Identifier: Apache-2.0
//
// Where the traces go: the folder's disk, and /dev/shm, which holds the newest records.
#pragma once

#include <string>

#include "analyzer/cli/surroundings/finding.h"

namespace memtrace::cli::surroundings {

// Why no file can be made in `folder`, as the system says it; empty: one can.
[[nodiscard]] std::string why_not_writable(const std::string& folder);

[[nodiscard]] finding judge_folder(const std::string& folder);
[[nodiscard]] finding judge_shared_memory();

}  // namespace memtrace::cli::surroundings
