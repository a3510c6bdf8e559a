// SPDX-License-Identifier: Apache-2.0
#include "interpose/hooks/primary_context.h"

#include "interpose/hooks/real_function.h"

namespace memtrace::primary_context {

bool is_active(std::uint32_t device) noexcept {
  auto* const ask = reinterpret_cast<int (*)(int, unsigned*, int*)>(
      find_real_function(library_family::driver, "cuDevicePrimaryCtxGetState"));
  unsigned flags = 0;
  int active = 0;
  return ask != nullptr && ask(static_cast<int>(device), &flags, &active) == 0 && active != 0;
}

}  // namespace memtrace::primary_context
