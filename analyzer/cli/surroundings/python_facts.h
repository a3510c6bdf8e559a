// SPDX-License-Identifier: Apache-2.0
//
// The Python that a command runs, and the PyTorch that it would import.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "analyzer/cli/surroundings/finding.h"

namespace memtrace::cli::surroundings {

struct python_facts {
  std::filesystem::path interpreter;
  std::string implementation;  // "cpython"
  int major = 0;
  int minor = 0;
  std::string version;  // "3.11.7"
  bool has_no_gil = false;
  std::string torch;       // "2.11.0+cu130"; empty: none is installed
  std::string torch_cuda;  // "13.0"; empty: built without CUDA
};

// Asks the interpreter, at most ten seconds, without importing torch; nothing where it does not
// answer.
[[nodiscard]] std::optional<python_facts> ask_python(const std::filesystem::path& interpreter);

[[nodiscard]] finding judge_python(const python_facts& python);
[[nodiscard]] finding judge_torch(const python_facts& python);

}  // namespace memtrace::cli::surroundings
