// SPDX-License-Identifier: Apache-2.0
//
// A subcommand: its options, registered with CLI11, and what it does.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace memtrace::cli {

// Exit codes of the command itself; run and dry-run pass the program's own on.
enum exit_code : int {
  success = 0,
  failure = 1,  // bad input, or damage found in a trace
  usage = 2,
  different = 3,   // audit: the two witnesses do not agree
  no_witness = 4,  // audit: there was only one, or nothing that both can see
  not_executable = 126,
  not_found = 127,
};

// The program and its arguments, as they stood after "--"; empty where there was none.
using program = std::vector<std::string>;
using action = std::function<int(const program&)>;

// Each adds its options to `app` and returns what to do once they are parsed.
[[nodiscard]] action add_report(CLI::App& app);
[[nodiscard]] action add_diff(CLI::App& app);
[[nodiscard]] action add_check(CLI::App& app);
[[nodiscard]] action add_replay(CLI::App& app);
[[nodiscard]] action add_audit(CLI::App& app);
[[nodiscard]] action add_export(CLI::App& app);
[[nodiscard]] action add_dump(CLI::App& app);
[[nodiscard]] action add_fleet(CLI::App& app);
[[nodiscard]] action add_scrub(CLI::App& app);
[[nodiscard]] action add_estimate(CLI::App& app);
[[nodiscard]] action add_live(CLI::App& app);
[[nodiscard]] action add_run(CLI::App& app);
[[nodiscard]] action add_dry_run(CLI::App& app);
[[nodiscard]] action add_fit(CLI::App& app);
[[nodiscard]] action add_path(CLI::App& app);
[[nodiscard]] action add_doctor(CLI::App& app);

}  // namespace memtrace::cli
