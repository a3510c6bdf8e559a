// SPDX-License-Identifier: Apache-2.0
//
// Python frames of a call stack, and whose code they are.
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

// Of an installed package that builds on PyTorch: where models live that the user did not write.
[[nodiscard]] bool is_model_library(std::string_view file);

// Innermost first.
[[nodiscard]] std::vector<source_frame> frames_of(const trace::dictionary& names,
                                                  trace::stack_id stack);

}  // namespace memtrace::code
