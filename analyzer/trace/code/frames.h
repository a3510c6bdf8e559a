// SPDX-License-Identifier: Apache-2.0
//
// Python frames of a call stack, whose code they are, and the source behind them.
#pragma once

#include <cstdint>
#include <optional>
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

// As memtrace/user_code.h says.
[[nodiscard]] bool is_user_code(std::string_view file);

// Whether the file is one of an installed package that builds on PyTorch: models live there that
// the user did not write.
[[nodiscard]] bool is_model_library(std::string_view file);

// Innermost first.
[[nodiscard]] std::vector<source_frame> frames_of(const trace::dictionary& names,
                                                  trace::stack_id stack);

// The text of one of the user's own files as it ran, byte for byte (it need not be UTF-8), valid as
// long as the dictionary. Nothing where the trace has none (the capability was off, an older or a
// scrubbed trace, a snapshot), where the file was too large or could not be read, where a part of it
// is missing, and where it had changed since the process began.
[[nodiscard]] std::optional<std::string_view> source_of(const trace::dictionary& names,
                                                        std::string_view file);

// The lines of a text without their ends.
[[nodiscard]] std::vector<std::string> lines_of(std::string_view text);

}  // namespace memtrace::code
