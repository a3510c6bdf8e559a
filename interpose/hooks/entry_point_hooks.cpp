// SPDX-License-Identifier: Apache-2.0
//
// cudaGetDriverEntryPoint and …ByVersion: how PyTorch gets cuMemCreate and the like. The real
// function answers; where the answer is a function that hooks.def knows, the wrapper is handed out
// in its place.
#include <cstring>

#include "interpose/hooks/call_recording.h"
#include "interpose/hooks/cuda_hooks.h"
#include "interpose/hooks/errno_keeper.h"
#include "interpose/hooks/exported.h"
#include "interpose/hooks/notice.h"

namespace memtrace {
namespace {

// cudaEnablePerThreadDefaultStream: the stream-ordered functions are then other ones (_ptsz).
constexpr unsigned long long per_thread_stream = 2;
constexpr int version_of_v2_functions = 3020;

void replace(const char* name, void** function, unsigned version,
             unsigned long long flags) noexcept {
  const errno_keeper errno_stays;
  if (name == nullptr || function == nullptr || *function == nullptr) return;
  if ((flags & per_thread_stream) != 0 || version < version_of_v2_functions) return;
  const driver_wrapper* const wrapper = find_driver_wrapper(name);
  if (wrapper == nullptr || wrapper->function == *function) return;
  hook& entry = hooks[static_cast<unsigned>(wrapper->id)];
  void* expected = nullptr;
  // Kept if it is the first; another one later (a second driver in one process) is left alone.
  if (!entry.real.compare_exchange_strong(expected, *function) && expected != *function) {
    notice::log("%s: two different entry points, one is not recorded", name);
    return;
  }
  *function = wrapper->function;
}

template <typename... Arguments>
int forward(hook_id id, Arguments... arguments) {
  auto* const real = real_function<int(Arguments...)>(id);
  return real == nullptr ? error_no_real_function : real(arguments...);
}

}  // namespace
}  // namespace memtrace

#define ENTRY_POINT(name_of_hook)                                                            \
  MEMTRACE_EXPORTED int name_of_hook(const char* symbol, void** function,                    \
                                     unsigned long long flags, int* status) {                \
    const int error =                                                                        \
        memtrace::forward(memtrace::hook_id::name_of_hook, symbol, function, flags, status); \
    if (error == 0) memtrace::replace(symbol, function, ~0u, flags);                         \
    return error;                                                                            \
  }

#define ENTRY_POINT_BY_VERSION(name_of_hook)                                                \
  MEMTRACE_EXPORTED int name_of_hook(const char* symbol, void** function, unsigned version, \
                                     unsigned long long flags, int* status) {               \
    const int error = memtrace::forward(memtrace::hook_id::name_of_hook, symbol, function,  \
                                        version, flags, status);                            \
    if (error == 0) memtrace::replace(symbol, function, version, flags);                    \
    return error;                                                                           \
  }

ENTRY_POINT(cudaGetDriverEntryPoint)
ENTRY_POINT_BY_VERSION(cudaGetDriverEntryPointByVersion)

// Programs compiled for the per-thread default stream: flags of 0 mean that stream there.
MEMTRACE_EXPORTED int cudaGetDriverEntryPoint_ptsz(const char* symbol, void** function,
                                                   unsigned long long flags, int* status) {
  return memtrace::forward(memtrace::hook_id::cudaGetDriverEntryPoint_ptsz, symbol, function, flags,
                           status);
}
MEMTRACE_EXPORTED int cudaGetDriverEntryPointByVersion_ptsz(const char* symbol, void** function,
                                                            unsigned version,
                                                            unsigned long long flags, int* status) {
  return memtrace::forward(memtrace::hook_id::cudaGetDriverEntryPointByVersion_ptsz, symbol,
                           function, version, flags, status);
}
