// SPDX-License-Identifier: Apache-2.0
//
// An optimizer as it was when last recorded, so that a step that changes nothing costs a few
// comparisons a tensor and no record. Addresses of objects only, none of which is followed unless
// its container is seen to hold it still. Needs the GIL.
#pragma once

#include <vector>

#include "interpose/sight/agent/seen_tensor.h"

namespace memtrace::agent {

// The parameters of all groups, in order.
class seen_parameters {
 public:
  [[nodiscard]] bool are_in(py groups) const;
  void keep(py groups);
  [[nodiscard]] const std::vector<std::uint64_t>& addresses() const noexcept { return addresses_; }
  [[nodiscard]] const std::vector<seen_tensor>& tensors() const noexcept { return tensors_; }

 private:
  std::vector<seen_tensor> tensors_;
  std::vector<std::uint64_t> addresses_;  // on GPUs
};

// The tensors in the groups themselves and in the optimizer's state.
class seen_states {
 public:
  [[nodiscard]] bool are_in(py groups, py state);
  void keep(py groups, py state);
  [[nodiscard]] const std::vector<std::uint64_t>& addresses() const noexcept { return addresses_; }

 private:
  // A group, or a value of the state; its tensors are those from `first` on.
  struct part {
    py key;  // null: a group
    py value;
    std::uint64_t version;  // 0: none, or there are containers in it
    std::size_t first;
    std::size_t end;
  };
  void add(py key, py value);
  void add_tensors(py value, int depth);
  [[nodiscard]] bool is_same(part& known, py key, py value);
  [[nodiscard]] bool holds(py value, std::size_t& next, std::size_t end, int depth) const;

  std::vector<part> parts_;
  std::vector<seen_tensor> tensors_;
  std::vector<std::uint64_t> addresses_;
  py state_ = nullptr;
  std::uint64_t state_version_ = 0;
  std::size_t groups_ = 0;  // how many of the parts are groups
};

}  // namespace memtrace::agent
