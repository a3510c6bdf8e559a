// SPDX-License-Identifier: Apache-2.0
//
// A driver that answers as the recorded one did, call by call, and notices where the model asks for
// something else than the recorded allocator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "analyzer/model/allocator/driver.h"
#include "analyzer/model/allocator/exactness.h"
#include "analyzer/model/allocator/recorded_answers.h"

namespace memtrace::allocator {

class recorded_driver final : public driver {
 public:
  explicit recorded_driver(const recorded_answers& told) : told_(told.driver) {}

  // Whatever follows belongs to this request.
  void begin(std::uint32_t request);
  // Notices what the recorded allocator did and the model did not.
  void end();

  [[nodiscard]] std::optional<std::uint64_t> allocate(std::uint64_t bytes) override;
  void free(std::uint64_t address, std::uint64_t bytes) override;
  [[nodiscard]] std::optional<std::uint64_t> reserve(std::uint64_t bytes) override;
  void unreserve(std::uint64_t /*address*/, std::uint64_t /*bytes*/) override {}
  [[nodiscard]] bool map(std::uint64_t address, std::uint64_t bytes,
                         std::uint64_t granule) override;
  void unmap(std::uint64_t address, std::uint64_t bytes) override;

  [[nodiscard]] const std::optional<difference>& first_difference() const { return first_; }
  [[nodiscard]] std::uint64_t compared() const { return compared_; }

 private:
  // The next answer that is about this request and not another's call; null: none.
  [[nodiscard]] const driver_answer* next();
  // Compares one of the frees in a row, which come in the order of pools that only their hash table
  // knows.
  void compare_return(driver_action what, std::uint64_t address, std::uint64_t bytes);
  void differ(const char* what, std::uint64_t recorded, std::uint64_t replayed,
              std::uint64_t event = 0);

  const std::vector<driver_answer>& told_;
  std::vector<driver_answer> returns_;  // of the run of frees and unmaps at hand
  std::size_t at_ = 0;
  std::uint32_t request_ = 0;
  std::uint64_t compared_ = 0;
  std::optional<difference> first_;
};

}  // namespace memtrace::allocator
