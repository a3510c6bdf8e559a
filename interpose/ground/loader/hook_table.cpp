// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/loader/hook_table.h"

#include <unistd.h>

#include <cstdio>

#include "interpose/ground/base/errno_keeper.h"

namespace memtrace {

hook hooks[hook_count] = {
#define LISTED(family, name) {#name, library_family::family},
#define ALLOCATES(family, name, since, parameters, arguments, address, bytes, handle, device) \
  LISTED(family, name)
#define RELEASES(family, name, since, parameters, arguments, address, bytes, handle, device) \
  LISTED(family, name)
#define NOTES(family, name, since, parameters, arguments, address, bytes, handle, device) \
  LISTED(family, name)
#define ADDS_NODE(family, name, since, parameters, arguments, graph, node) LISTED(family, name)
#define HANDS_OVER(family, name, parameters, arguments, role, address, bytes) LISTED(family, name)
#define OTHER(family, symbol) LISTED(family, symbol)
#include "interpose/ground/loader/hooks.def"
#undef LISTED
};

void* find_real_function(hook_id id) noexcept {
  const errno_keeper errno_stays;  // wrappers look when they call, outside any other retainer
  hook& wanted = hooks[static_cast<unsigned>(id)];
  void* const real = find_real_function(wanted.family, wanted.name);
  if (real != nullptr) wanted.real.store(real, std::memory_order_relaxed);
  return real;
}

void die_without(hook_id id) noexcept {
  constexpr int status_of_linker = 127;
  char text[400];
  const int length =
      std::snprintf(text, sizeof text, "memtrace: symbol lookup error: undefined symbol: %s\n",
                    hooks[static_cast<unsigned>(id)].name);
  const ssize_t written = write(STDERR_FILENO, text, static_cast<std::size_t>(length));
  (void)written;
  _exit(status_of_linker);
}

}  // namespace memtrace
