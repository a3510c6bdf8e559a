// SPDX-License-Identifier: Apache-2.0
//
// Which variable PyTorch took its allocator's settings from, and which had no effect. PyTorch reads
// PYTORCH_CUDA_ALLOC_CONF where it is set, even to nothing, else (since 2.9) PYTORCH_ALLOC_CONF; and
// it reads once, so that a program may set them too late. Since 2.9 the recorder sees each text that
// PyTorch reads.
#pragma once

#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace memtrace::allocator {

class settings_of_environment {
 public:
  // Any info of a trace, and any text of settings that PyTorch read or was given.
  void info(std::string_view key, std::string_view value);
  void told(std::string_view text) { told_.emplace(text); }

  // Before PyTorch told anything.
  [[nodiscard]] std::string in_force() const;
  // A sentence each.
  [[nodiscard]] std::vector<std::string> without_effect() const;

 private:
  struct variable {
    std::string_view name;
    std::optional<std::string> value;
    bool by_program = false;  // since it began
  };

  [[nodiscard]] bool tells_what_it_reads() const;
  // Set by the program, and PyTorch would have told had it read that. An allocator that only
  // reports (cudaMallocAsync's) tells no settings: then nothing follows from its silence.
  [[nodiscard]] bool came_too_late(const variable& one) const;
  [[nodiscard]] std::string why_without_effect(const variable& one) const;

  std::string torch_;
  std::string of_older_trace_;
  bool only_reports_ = false;
  std::array<variable, 2> variables_ = {variable{"PYTORCH_CUDA_ALLOC_CONF", {}, false},
                                        variable{"PYTORCH_ALLOC_CONF", {}, false}};
  std::vector<std::pair<std::string, std::string>> unknown_;  // names that PyTorch does not read
  std::set<std::string> told_;
};

}  // namespace memtrace::allocator
