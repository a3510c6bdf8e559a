// SPDX-License-Identifier: Apache-2.0
//
// A dry run that nobody waits for: fit and plan watch it, and end it when they know enough.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "analyzer/cli/launch/child_process.h"
#include "analyzer/cli/launch/simulation.h"
#include "analyzer/plan/fit/value_place.h"

namespace memtrace::cli {

class background_dry_run {
 public:
  // `folder`: is there, for the traces and what the program writes. A complaint: it did not start.
  [[nodiscard]] static std::variant<std::unique_ptr<background_dry_run>, fit::complaint> start(
      const fit::launch& what, const simulated_gpu& gpu, const std::string& folder);

  // Its end, once it has ended by itself.
  [[nodiscard]] std::optional<child_end> look() { return running_.look(); }
  // `others`: processes of its traces.
  void end(const std::vector<std::uint64_t>& others) { running_.end(others, traces_); }
  // Whether its first process takes connections at a port of TCP.
  [[nodiscard]] bool listens() const;
  [[nodiscard]] const std::string& traces() const { return traces_; }  // their folder
  [[nodiscard]] const std::string& output() const { return output_; }  // the file

 private:
  background_dry_run(simulation shared, const background_program& started, std::string traces,
                     std::string output);

  simulation shared_;
  int pid_;
  watched_program running_;
  std::string traces_;
  std::string output_;
};

}  // namespace memtrace::cli
