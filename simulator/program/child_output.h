// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace memtrace::simulator {

// The output of a program on stdout, without LD_PRELOAD in its environment, stdin and stderr being
// /dev/null; empty if it cannot be started, fails, or takes longer than ten seconds.
[[nodiscard]] std::string child_output(const std::vector<std::string>& command);

}  // namespace memtrace::simulator
