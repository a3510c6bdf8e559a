// SPDX-License-Identifier: Apache-2.0
//
// The CUDA functions that a program got by name and whose calls were not recorded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/trace/reader/records.h"

namespace memtrace::replay {

struct unknown_entry_point {
  std::string name;
  std::uint64_t cuda_version = 0;  // asked for; 0: none was
  bool is_another = false;  // of a name that is recorded, but not the function that was recorded
};

class unknown_entry_points {
 public:
  void add(const trace::operation_event& record);

  // Each once, in the order in which they were asked for; no more than some hundred.
  [[nodiscard]] const std::vector<unknown_entry_point>& all() const { return all_; }

 private:
  std::vector<unknown_entry_point> all_;
};

}  // namespace memtrace::replay
