// SPDX-License-Identifier: Apache-2.0
//
// The memory of modules and libraries of kernels, which no call says: how much more of the device
// nothing else explains after they were loaded than before. Other processes may have grown
// meanwhile: it only counts if a look at them says that they did not.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace memtrace::device {

class loaded_code {
 public:
  // Some were loaded or unloaded.
  void change() { changed_ = true; }

  // `rest`: in use and not explained, other processes and contexts included. `others`: as last
  // known.
  void sample(std::int64_t rest, std::optional<std::uint64_t> others) {
    if (changed_ && rest_) {
      if (unconfirmed_ == 0) others_before_ = others;
      unconfirmed_ += rest - *rest_;
    }
    changed_ = false;
    rest_ = rest;
  }

  // Other processes have so much. False: they had another size before, and whatever has not been
  // confirmed was theirs.
  bool confirm(std::uint64_t others) {
    const bool are_same = !others_before_ || *others_before_ == others;
    if (are_same) confirmed_ = std::max<std::int64_t>(confirmed_ + unconfirmed_, 0);
    unconfirmed_ = 0;
    return are_same;
  }

  [[nodiscard]] std::int64_t confirmed() const { return confirmed_; }
  [[nodiscard]] std::int64_t unconfirmed() const { return unconfirmed_; }

 private:
  bool changed_ = false;
  std::optional<std::int64_t> rest_;  // at the latest sample
  std::optional<std::uint64_t> others_before_;
  std::int64_t confirmed_ = 0;
  std::int64_t unconfirmed_ = 0;
};

}  // namespace memtrace::device
