// SPDX-License-Identifier: Apache-2.0
//
// A line for each check, for a terminal and for logs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/run/check/findings.h"

namespace memtrace::check {

// One below the folder without it, any other as it is; an empty folder: as it is.
[[nodiscard]] std::string below(std::string_view folder, const std::string& file);

// "train.py:31 forward"
[[nodiscard]] std::string place_in(std::string_view folder, const code::source_frame& frame);

// The whole sentence, lines named as seen from the folder.
[[nodiscard]] std::string message_of(const finding& one, std::string_view folder);

[[nodiscard]] std::string to_text(const std::vector<finding>& findings, std::string_view folder);

}  // namespace memtrace::check
