// SPDX-License-Identifier: Apache-2.0
//
// A program's source, where it is readable on this machine.
#pragma once

#include <string>
#include <vector>

namespace memtrace::code {

// Its lines without their ends; none where it is no regular file, larger than 4 MiB, or not
// readable.
[[nodiscard]] std::vector<std::string> lines_of_file(const std::string& file);

}  // namespace memtrace::code
