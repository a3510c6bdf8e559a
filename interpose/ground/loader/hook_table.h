// SPDX-License-Identifier: Apache-2.0
//
// hooks.def as a table: the id of each intercepted function and the real function behind it.
#pragma once

#include <atomic>
#include <cstdint>

#include "interpose/ground/loader/real_function.h"

namespace memtrace {

enum class hook_id : std::uint16_t {
#define ALLOCATES(family, name, since, parameters, arguments, address, bytes, handle, device) name,
#define RELEASES(family, name, since, parameters, arguments, address, bytes, handle, device) name,
#define NOTES(family, name, since, parameters, arguments, address, bytes, handle, device) name,
#define ADDS_NODE(family, name, since, parameters, arguments, graph, node) name,
#define HANDS_OVER(family, name, parameters, arguments, role, address, bytes) name,
#define OTHER(family, symbol) symbol,
#include "interpose/ground/loader/hooks.def"
  count
};

inline constexpr unsigned hook_count = static_cast<unsigned>(hook_id::count);

struct hook {
  const char* name;
  library_family family;
  std::atomic<void*> real{nullptr};
};

extern hook hooks[hook_count];

[[nodiscard]] void* find_real_function(hook_id id) noexcept;

// For a wrapper with nothing behind it that cannot do without: the linker would have ended the
// process in its place, with the same words and status.
[[noreturn]] void die_without(hook_id id) noexcept;

// The function behind a hook as a function pointer, null if there is none. One load once found.
template <typename Function>
[[nodiscard]] Function* real_function(hook_id id) noexcept {
  void* real = hooks[static_cast<unsigned>(id)].real.load(std::memory_order_relaxed);
  if (real == nullptr) [[unlikely]]
    real = find_real_function(id);
  return reinterpret_cast<Function*>(real);
}

}  // namespace memtrace
