// SPDX-License-Identifier: Apache-2.0
//
// Python frames of a call stack, whose code they are, and the source behind them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/trace/reader/dictionary.h"

namespace memtrace::code {

struct source_frame {
  std::string file;
  std::uint32_t line = 0;
  std::string function;
  bool user = false;  // the user's own code
  [[nodiscard]] bool operator==(const source_frame&) const = default;
};

// False for the standard library, installed packages, and code without a file that a library
// made (frozen modules, torch.fx, torch.compile).
[[nodiscard]] bool is_user_code(std::string_view file);

// Whether the file is one of an installed package that builds on PyTorch: models live there that
// the user did not write.
[[nodiscard]] bool is_model_library(std::string_view file);

// Innermost first.
[[nodiscard]] std::vector<source_frame> frames_of(const trace::dictionary& names,
                                                  trace::stack_id stack);

// The lines of a program's source without their ends; none where the file cannot be read on this
// machine, is no regular file, or is larger than 4 MiB.
[[nodiscard]] std::vector<std::string> lines_of_file(const std::string& file);

}  // namespace memtrace::code
