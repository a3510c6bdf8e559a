// SPDX-License-Identifier: Apache-2.0
//
// The laws of one program at one length, by compute capability: kernels are chosen by it, and with
// them what a program asks for. As long as nothing speaks against it, one law serves all GPUs.
#pragma once

#include <map>
#include <optional>

#include "analyzer/plan/fit/law.h"

namespace memtrace::fit {

class laws {
 public:
  // Of GPUs of that capability: their own where there is one, else the first that was learnt.
  [[nodiscard]] const law& of(int capability) const {
    const auto own = by_capability_.find(capability);
    if (own != by_capability_.end()) return own->second;
    return first_ ? by_capability_.at(*first_) : none_;
  }
  [[nodiscard]] bool has_own(int capability) const { return by_capability_.contains(capability); }
  [[nodiscard]] bool empty() const { return by_capability_.empty(); }
  [[nodiscard]] law& own(int capability) {
    if (!first_) first_ = capability;
    return by_capability_[capability];
  }

 private:
  std::map<int, law> by_capability_;
  std::optional<int> first_;
  law none_;
};

}  // namespace memtrace::fit
