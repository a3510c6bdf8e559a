// SPDX-License-Identifier: Apache-2.0
//
// The processes below this one: DataLoader workers (forked, spawned, or made by a fork server),
// helpers of compilers, and theirs. Not those that the recorder makes (detached_call.h).
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace memtrace::sampler {

class child_processes {
 public:
  static constexpr std::size_t most = 512;

  // Asks the kernel again. Without /proc, or a kernel that does not list children: none.
  void find(std::span<char> buffer) noexcept;
  // There are others than the last time, or more.
  [[nodiscard]] bool has_new() const noexcept { return has_new_; }
  [[nodiscard]] std::span<const std::uint64_t> found() const noexcept {
    return {processes_.data(), count_};
  }

 private:
  void add_children_of(const char* tasks, std::span<char> buffer) noexcept;

  std::array<std::uint64_t, most> processes_{};
  std::size_t count_ = 0;
  std::uint64_t last_sum_ = 0;  // of their ids
  bool has_new_ = false;
};

}  // namespace memtrace::sampler
