// SPDX-License-Identifier: Apache-2.0
//
// The NVIDIA driver of this machine, and whether a PyTorch can use it.
#pragma once

#include <string>

#include "analyzer/cli/surroundings/finding.h"

namespace memtrace::cli::surroundings {

// `torch_cuda`: "13.0", or empty where that is not known. Loads libcuda.so.1, which initializes
// nothing.
[[nodiscard]] finding judge_driver(const std::string& torch_cuda);

}  // namespace memtrace::cli::surroundings
