// SPDX-License-Identifier: Apache-2.0
//
// The checks as test cases, in the XML that CI systems read: what is broken is a failure, what
// cannot be told is an error.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/run/check/findings.h"

namespace memtrace::check {

// For a value in double quotes. XML 1.0 has no way to write most control characters: those become
// U+FFFD, as what is not UTF-8 does.
[[nodiscard]] std::string xml_escaped(std::string_view text);

[[nodiscard]] std::string to_junit(const std::vector<finding>& findings, std::string_view folder);

}  // namespace memtrace::check
