// SPDX-License-Identifier: Apache-2.0
//
// Workflow commands of GitHub Actions: what is broken is shown at its line in a pull request.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/run/check/findings.h"

namespace memtrace::check {

// A message ends at its line, and a property at a colon or comma, too.
[[nodiscard]] std::string github_message(std::string_view text);
[[nodiscard]] std::string github_property(std::string_view text);

// ::error for what is broken, ::warning for what cannot be told; `workspace`: the checked out
// repository, whose files GitHub knows by their paths below it.
[[nodiscard]] std::string to_github(const std::vector<finding>& findings,
                                    std::string_view workspace);

}  // namespace memtrace::check
