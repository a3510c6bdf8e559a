// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/driver/primary_context.h"

#include "interpose/ground/driver/driver_queries.h"

namespace memtrace::primary_context {

bool is_active(std::uint32_t device) noexcept {
  const driver_queries* const driver = driver_queries::find();
  unsigned flags = 0;
  int active = 0;
  return driver != nullptr && driver->primary_state != nullptr &&
         driver->primary_state(static_cast<int>(device), &flags, &active) == 0 && active != 0;
}

}  // namespace memtrace::primary_context
