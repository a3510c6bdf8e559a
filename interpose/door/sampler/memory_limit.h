// SPDX-License-Identifier: Apache-2.0
//
// The limit that this process's host memory meets first: that of a control group around it (of
// either version, at any level), of the machine, or of the process itself (ulimit).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "interpose/door/sampler/process_memory.h"
#include "memtrace/host_samples.h"

namespace memtrace::sampler {

struct limit_state {
  std::uint64_t limit = 0;  // bytes
  std::uint64_t used = 0;   // without page cache, which is given back first
  format::host::limit_source from{};
};

class memory_limit {
 public:
  // `root` goes before the names of all files: "" but in tests.
  explicit memory_limit(std::string_view root = "") noexcept : root_(root) {}

  // Which control groups there are. Once: a process rarely moves.
  void find(std::span<char> buffer) noexcept;

  // The one that is nearest to being reached now. Some tens of microseconds.
  [[nodiscard]] std::optional<limit_state> nearest(const resident_memory& process,
                                                   std::span<char> buffer) const noexcept;

 private:
  static constexpr std::size_t most_levels = 12;
  static constexpr std::size_t longest_path = 600;
  struct group {
    format::host::limit_source version{};
    char directory[longest_path];  // with the root
  };

  void add_levels(format::host::limit_source version, std::string_view mount,
                  std::string_view below) noexcept;
  [[nodiscard]] std::optional<limit_state> state_of(const group& level,
                                                    std::span<char> buffer) const noexcept;
  [[nodiscard]] std::optional<limit_state> state_of_machine(std::span<char> buffer) const noexcept;
  [[nodiscard]] std::string_view read(std::string_view path, std::span<char> buffer) const noexcept;

  std::string_view root_;
  std::array<group, most_levels> levels_;
  std::size_t count_ = 0;
};

}  // namespace memtrace::sampler
