// SPDX-License-Identifier: Apache-2.0
//
// The system under the program: its C library, and the limits of a container around it.
#pragma once

#include "analyzer/cli/surroundings/finding.h"

namespace memtrace::cli::surroundings {

[[nodiscard]] finding describe_system();

// The memory that control groups leave, and how many threads. For information: a limit of the host
// is the report's business, which samples it.
[[nodiscard]] finding describe_container();

}  // namespace memtrace::cli::surroundings
