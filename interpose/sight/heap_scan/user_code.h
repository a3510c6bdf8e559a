// SPDX-License-Identifier: Apache-2.0
//
// Which files are the user's own: those of neither the standard library nor an installed package.
#pragma once

#include <string>
#include <string_view>

#include "interpose/sight/heap_scan/python_types.h"

namespace memtrace::census {

class user_code {
 public:
  // `modules`: sys.modules, a dictionary.
  user_code(const python_objects& python, address modules);
  [[nodiscard]] bool is_users(std::string_view file) const noexcept;

 private:
  std::string standard_library_;  // its folder, with a slash; "" when unknown
};

}  // namespace memtrace::census
