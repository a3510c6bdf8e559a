// SPDX-License-Identifier: Apache-2.0
//
// The file with the growth that is expected (judge/verdicts/expectations.h), for all subcommands
// that judge growth.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/judge/verdicts/expectations.h"

namespace CLI {
class App;
}

namespace memtrace::cli {

// --suppressions FILE, else the variable MEMTRACE_SUPPRESSIONS.
void add_suppressions(CLI::App& app, std::string& file);

// Its content; of an empty name none. Nothing, after one sentence on stderr, where the file cannot
// be read or a line of it is not understood.
[[nodiscard]] std::optional<std::vector<verdicts::expectation>> read_suppressions(
    const std::string& file);

// The same for what shows a report without that option. A bad file is complained of, and left out.
[[nodiscard]] std::vector<verdicts::expectation> suppressions_by_environment();

}  // namespace memtrace::cli
