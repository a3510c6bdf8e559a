// SPDX-License-Identifier: Apache-2.0
//
// A program in the background with all that it has started: asked whether it still runs, and ended
// with them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/cli/child_process.h"

namespace memtrace::cli {

class watched_program {
 public:
  explicit watched_program(const background_program& started) : pid_(started.pid) {}
  watched_program(const watched_program&) = delete;
  watched_program& operator=(const watched_program&) = delete;
  ~watched_program() { end({}, {}); }

  // Its end, once it has ended by itself.
  [[nodiscard]] std::optional<child_end> look();
  // Kills it, what is left of its process group, and of `others` the processes that were told to
  // write their traces to `folder`: launchers put their workers into groups of their own.
  void end(const std::vector<std::uint64_t>& others, const std::string& folder);

 private:
  int pid_;
  bool ended_ = false;
};

}  // namespace memtrace::cli
