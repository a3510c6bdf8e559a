// SPDX-License-Identifier: Apache-2.0
//
// A dry run that nobody waits for: fit and plan watch it, and end it when they know enough.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

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
  void ask_to_end(std::chrono::seconds patience) { running_.ask_to_end(patience); }
  void end() { running_.end(traces_); }
  // Whether it takes connections at this port of TCP; 0: its first process, at any.
  [[nodiscard]] bool listens(std::uint64_t port) const;
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

// Whether what a program wrote says that memory was refused: to PyTorch's allocator, or to libraries
// beside it, of which no trace tells.
[[nodiscard]] bool tells_of_memory(const std::string& output);

}  // namespace memtrace::cli
