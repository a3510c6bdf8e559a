// SPDX-License-Identifier: Apache-2.0
//
// How parameters are called in the model, by the address of their Python object: what gradients
// and optimizer states are named after. Needs the GIL. Ids are those of one recording.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "interpose/ground/recorder/recorder.h"

namespace memtrace::agent {

class tensor_names {
 public:
  // Forgets everything when another recording has begun; true then.
  bool follow(const recorder& to) noexcept;

  void begin_root(std::uint64_t root);  // and forgets the names that it gave before
  void add(std::uint64_t tensor, std::uint32_t name);
  void forget_root(std::uint64_t root) noexcept;

  // Changes whenever names may have.
  [[nodiscard]] std::uint64_t version() const noexcept { return version_; }

  // 0: unknown.
  [[nodiscard]] std::uint32_t find(std::uint64_t tensor) const noexcept;

 private:
  struct given_name {
    std::uint32_t text;
    std::uint64_t root;
  };
  std::unordered_map<std::uint64_t, given_name> names_;
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> of_root_;
  std::uint64_t root_ = 0;
  std::uint64_t version_ = 0;
  std::uint32_t generation_ = 0;
};

[[nodiscard]] tensor_names& the_tensor_names() noexcept;

}  // namespace memtrace::agent
