// SPDX-License-Identifier: Apache-2.0
//
// The command that started this process.
#pragma once

#include <span>
#include <string_view>

namespace memtrace {

// The arguments, separated by NUL, without a last one; cut where the buffer ends, empty where
// /proc is missing.
[[nodiscard]] std::string_view read_command_line(std::span<char> buffer) noexcept;

// The name by which a person knows the program: of `python -u train.py --lr 1` it is train.py, of
// `python -m package.train` package.train, of others the executable's. Without folders.
[[nodiscard]] std::string_view traced_program(std::string_view command_line) noexcept;

}  // namespace memtrace
