// SPDX-License-Identifier: Apache-2.0
//
// The wrappers of hooks.def as pointers, for whoever hands them out by name.
#pragma once

#include <string_view>

#include "interpose/hooks/hook_table.h"

namespace memtrace {

struct driver_wrapper {
  std::string_view name;  // as exported by the driver
  hook_id id;
  void* function;
};

// The wrapper of a driver function that is asked for by a name without version suffix, as
// cudaGetDriverEntryPoint does; null if there is none.
[[nodiscard]] const driver_wrapper* find_driver_wrapper(std::string_view name) noexcept;

}  // namespace memtrace
