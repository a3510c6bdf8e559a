// SPDX-License-Identifier: Apache-2.0
//
// The wrappers of the CUDA calls in hooks.def.
#include "interpose/hooks/cuda_hooks.h"

#include <cstddef>

#include "interpose/hooks/call_recording.h"
#include "interpose/hooks/exported.h"

using memtrace::as_number;
using memtrace::call_facts;
using memtrace::hook_id;

// A wrapper calls the real function with the type that it has itself.
#define CALL_REAL(name, arguments)                                              \
  [&]() -> int {                                                                \
    auto* const real = memtrace::real_function<decltype(name)>(hook_id::name);  \
    return real == nullptr ? memtrace::error_no_real_function : real arguments; \
  }

#define ALLOCATES(family, name, parameters, arguments, address, bytes, handle)       \
  MEMTRACE_EXPORTED int name parameters {                                            \
    return memtrace::allocate_recorded(                                              \
        hook_id::name, CALL_REAL(name, arguments), [&]([[maybe_unused]] int error) { \
          return call_facts{error == 0 ? as_number(address) : 0, as_number(bytes),   \
                            error == 0 ? as_number(handle) : 0};                     \
        });                                                                          \
  }
#define RELEASES(family, name, parameters, arguments, address, bytes, handle)                     \
  MEMTRACE_EXPORTED int name parameters {                                                         \
    return memtrace::release_recorded(hook_id::name, CALL_REAL(name, arguments),                  \
                                      {as_number(address), as_number(bytes), as_number(handle)}); \
  }
#include "interpose/hooks/hooks.def"

namespace memtrace {
namespace {

const driver_wrapper wrappers[] = {
#define ALLOCATES(family, name, parameters, arguments, address, bytes, handle)   \
  {library_family::family == library_family::driver ? #name : "", hook_id::name, \
   reinterpret_cast<void*>(&::name)},
#define RELEASES(family, name, parameters, arguments, address, bytes, handle)    \
  {library_family::family == library_family::driver ? #name : "", hook_id::name, \
   reinterpret_cast<void*>(&::name)},
#include "interpose/hooks/hooks.def"
};

// cuMemAlloc, asked for at any CUDA version that memtrace knows, is cuMemAlloc_v2.
bool is_name_of(std::string_view exported, std::string_view asked) noexcept {
  constexpr std::string_view second = "_v2";
  return exported == asked || (exported.ends_with(second) &&
                               exported.substr(0, exported.size() - second.size()) == asked);
}

}  // namespace

const driver_wrapper* find_driver_wrapper(std::string_view name) noexcept {
  for (const auto& wrapper : wrappers) {
    if (is_name_of(wrapper.name, name)) return &wrapper;
  }
  return nullptr;
}

}  // namespace memtrace
