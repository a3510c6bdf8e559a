// SPDX-License-Identifier: Apache-2.0
//
// Which of a program's steps are those that it is looked at after: with several optimizers (of a
// generator and a discriminator) always the same one's, so that it is always the same place in the
// step. The program's own marks, memtrace_step(), go before any optimizer.
#pragma once

#include <cstdint>

namespace memtrace::agent {

class leading_optimizer {
 public:
  static constexpr std::uint64_t the_program = 1;  // no object's address

  // A step of this one has ended: whether it is the leader, which it becomes when the old one has
  // not stepped for long.
  [[nodiscard]] bool is_led_by(std::uint64_t who) noexcept {
    if (who == leader_) {
      others_ = 0;
      return true;
    }
    if (leader_ != 0 && who != the_program && ++others_ < patience) return false;
    leader_ = who;
    others_ = 0;
    return true;
  }

 private:
  static constexpr std::uint32_t patience = 256;
  std::uint64_t leader_ = 0;
  std::uint32_t others_ = 0;
};

}  // namespace memtrace::agent
