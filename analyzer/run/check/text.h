// SPDX-License-Identifier: Apache-2.0
//
// The findings in words: for a terminal and for logs, for GitHub, and as JUnit's XML.
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

// A line for each check.
[[nodiscard]] std::string to_text(const std::vector<finding>& findings, std::string_view folder);

// Workflow commands of GitHub Actions, which shows them at their lines in a pull request. A message ends at its line, and a property at a colon or comma, too.
[[nodiscard]] std::string github_message(std::string_view text);
[[nodiscard]] std::string github_property(std::string_view text);

// ::error for what is broken, ::warning for what cannot be told; `workspace`: the checked out
// repository, whose files GitHub knows by their paths below it.
[[nodiscard]] std::string to_github(const std::vector<finding>& findings,
                                    std::string_view workspace);

// For a value in double quotes. XML 1.0 has no way to write most control characters: those become
// U+FFFD, as what is not UTF-8 does.
[[nodiscard]] std::string xml_escaped(std::string_view text);

// The checks as test cases, in the XML that CI systems read: a broken one is a failure, one that
// cannot be told is an error.
[[nodiscard]] std::string to_junit(const std::vector<finding>& findings, std::string_view folder);

}  // namespace memtrace::check
