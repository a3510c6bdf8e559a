// SPDX-License-Identifier: Apache-2.0
//
// A subcommand: its options, registered with CLI11, and what it does.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/cli/launch/child_process.h"

namespace CLI {
class App;
}

namespace memtrace::cli {

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
[[nodiscard]] action add_plan(CLI::App& app);
[[nodiscard]] action add_path(CLI::App& app);
[[nodiscard]] action add_doctor(CLI::App& app);
// Of the help: both print what they read from the tree that `app` is in.
[[nodiscard]] action add_completion(CLI::App& app);
[[nodiscard]] action add_man(CLI::App& app);

// Privacy copies of traces.
struct scrubbed_copies {
  std::vector<std::string> paths;  // in the order of the traces
  std::size_t directories = 0;     // that were hidden
  std::size_t names = 0;
};

// Into the folder, which is made. Nothing, after one sentence on stderr, when one of them cannot
// be.
[[nodiscard]] std::optional<scrubbed_copies> make_scrubbed_copies(
    const std::vector<std::string>& traces, const std::string& folder);

}  // namespace memtrace::cli
