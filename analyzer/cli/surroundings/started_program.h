// SPDX-License-Identifier: Apache-2.0
//
// What the kernel will start for a command, and whether libmemtrace.so gets into it.
#pragma once

#include <string>
#include <vector>

#include "analyzer/cli/surroundings/finding.h"

namespace memtrace::cli::surroundings {

// Whether there is such a file that may be executed.
[[nodiscard]] bool can_be_started(const std::string& program);

// Launchers in front of the program pass the variables on (torchrun, accelerate, deepspeed, srun,
// conda run), but for those that start it elsewhere or take LD_PRELOAD away.
[[nodiscard]] finding judge_program(const std::vector<std::string>& command,
                                    const std::string& library);

}  // namespace memtrace::cli::surroundings
