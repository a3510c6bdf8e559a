// SPDX-License-Identifier: Apache-2.0
#include "interpose/hooks/hook_table.h"

namespace memtrace {

hook hooks[hook_count] = {
#define ALLOCATES(family, name, parameters, arguments, address, bytes, handle) \
  {#name, library_family::family},
#define RELEASES(family, name, parameters, arguments, address, bytes, handle) \
  {#name, library_family::family},
#define HANDS_OVER(family, name, parameters, arguments, role, address, bytes) \
  {#name, library_family::family},
#define OTHER(family, symbol) {#symbol, library_family::family},
#include "interpose/hooks/hooks.def"
};

void* find_real_function(hook_id id) noexcept {
  hook& wanted = hooks[static_cast<unsigned>(id)];
  void* const real = find_real_function(wanted.family, wanted.name);
  if (real != nullptr) wanted.real.store(real, std::memory_order_relaxed);
  return real;
}

}  // namespace memtrace
