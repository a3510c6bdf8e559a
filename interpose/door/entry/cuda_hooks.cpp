// SPDX-License-Identifier: Apache-2.0
//
// The wrappers of the CUDA calls in hooks.def.
#include <cstddef>

#include "interpose/door/entry/call_recording.h"
#include "interpose/ground/base/exported.h"
#include "interpose/ground/loader/several_runtimes.h"

// A wrapper calls the real function with the type that it has itself.
#define CALL_REAL(family, name, arguments)                                                \
  [&, caller_ = static_cast<const void*>(__builtin_return_address(0))]() -> int {         \
    static constinit memtrace::caller_bindings bindings_{nullptr};                        \
    auto* const real_ =                                                                   \
        memtrace::real_function_behind<memtrace::library_family::family, decltype(name)>( \
            memtrace::hook_id::name, caller_, bindings_);                                 \
    return real_ == nullptr ? memtrace::error_no_real_function : real_ arguments;         \
  }

// The facts of a call that ended with `error`.
#define FACTS(address, bytes, handle, device)                                          \
  [&]([[maybe_unused]] int error) {                                                    \
    using namespace memtrace::call_arguments;                                          \
    return memtrace::call_facts{error == 0 ? memtrace::as_number(address) : 0,         \
                                memtrace::as_number(bytes),                            \
                                error == 0 ? memtrace::as_number(handle) : 0, device}; \
  }

#define EFFECT(name) memtrace::format::effect_of(#name)

#define ALLOCATES(family, name, since, parameters, arguments, address, bytes, handle, device)     \
  MEMTRACE_EXPORTED int name parameters {                                                         \
    return memtrace::allocate_recorded<EFFECT(name)>(                                             \
        memtrace::hook_id::name, __builtin_return_address(0), CALL_REAL(family, name, arguments), \
        FACTS(address, bytes, handle, device));                                                   \
  }
#define RELEASES(family, name, since, parameters, arguments, address, bytes, handle, device)      \
  MEMTRACE_EXPORTED int name parameters {                                                         \
    return memtrace::release_recorded<EFFECT(name)>(                                              \
        memtrace::hook_id::name, __builtin_return_address(0), CALL_REAL(family, name, arguments), \
        [&] { return FACTS(address, bytes, handle, device)(0); });                                \
  }
#define NOTES(family, name, since, parameters, arguments, address, bytes, handle, device)         \
  MEMTRACE_EXPORTED int name parameters {                                                         \
    return memtrace::note_recorded<EFFECT(name)>(                                                 \
        memtrace::hook_id::name, __builtin_return_address(0), CALL_REAL(family, name, arguments), \
        FACTS(address, bytes, handle, device));                                                   \
  }

namespace memtrace {
namespace {

// As which calls a node that allocates and one that frees are recorded.
template <library_family family>
inline constexpr hook_id adds_allocation =
    family == library_family::driver ? hook_id::cuGraphAddMemAllocNode
                                     : hook_id::cudaGraphAddMemAllocNode;
template <library_family family>
inline constexpr hook_id adds_release =
    family == library_family::driver ? hook_id::cuGraphAddMemFreeNode
                                     : hook_id::cudaGraphAddMemFreeNode;

}  // namespace
}  // namespace memtrace

#define ADDS_NODE(family, name, since, parameters, arguments, graph, node)                     \
  MEMTRACE_EXPORTED int name parameters {                                                      \
    return memtrace::add_node_recorded(                                                        \
        memtrace::adds_allocation<memtrace::library_family::family>,                           \
        memtrace::adds_release<memtrace::library_family::family>, __builtin_return_address(0), \
        memtrace::as_number(graph), CALL_REAL(family, name, arguments), [&]() -> const void* { \
          using namespace memtrace::call_arguments;                                            \
          return node;                                                                         \
        });                                                                                    \
  }
#include "interpose/ground/loader/hooks.def"
