// SPDX-License-Identifier: Apache-2.0
//
// The driver's functions by name: cuGetProcAddress, which every cudart uses for all of them, and
// the runtime's cudaGetDriverEntryPoint, by which PyTorch gets cuMemCreate and the like. The real
// function answers first, with what it was given; where the answer is a function that hooks.def
// knows, its wrapper is handed out in its place. cuGetProcAddress itself is one of them.
#include "interpose/door/entry/call_recording.h"
#include "interpose/ground/base/errno_keeper.h"
#include "interpose/ground/base/exported.h"
#include "interpose/ground/loader/deep_binding.h"
#include "interpose/ground/loader/hand_out.h"

namespace memtrace {
namespace {

// CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM and cudaEnablePerThreadDefaultStream
constexpr unsigned long long per_thread_stream = 2;
// The meaning of flags of 0 in a program compiled for the per-thread stream.
constexpr unsigned long long legacy_stream = 1;
constexpr int no_version = 0;

void replace(const driver_query& query, void** function) noexcept {
  const errno_keeper errno_stays;
  deep_binding::look_if_due();
  if (query.name == nullptr || function == nullptr || *function == nullptr) return;
  *function = instead_of_entry_point(query, *function);
}

template <typename... Arguments>
int forward(hook_id id, Arguments... arguments) {
  auto* const real = real_function<int(Arguments...)>(id);
  return real == nullptr ? error_no_real_function : real(arguments...);
}

}  // namespace
}  // namespace memtrace

using memtrace::forward;
using memtrace::hook_id;
using memtrace::replace;

// The first one, up to CUDA 11.8, has no status: an unknown name is an error there.
MEMTRACE_EXPORTED int cuGetProcAddress(const char* symbol, void** function, int version,
                                       unsigned long long flags) {
  const int error = forward(hook_id::cuGetProcAddress, symbol, function, version, flags);
  if (error == 0) replace({symbol, version, (flags & memtrace::per_thread_stream) != 0}, function);
  return error;
}

MEMTRACE_EXPORTED int cuGetProcAddress_v2(const char* symbol, void** function, int version,
                                          unsigned long long flags, int* status) {
  const int error = forward(hook_id::cuGetProcAddress_v2, symbol, function, version, flags, status);
  if (error == 0) replace({symbol, version, (flags & memtrace::per_thread_stream) != 0}, function);
  return error;
}

MEMTRACE_EXPORTED int cudaGetDriverEntryPoint(const char* symbol, void** function,
                                              unsigned long long flags, int* status) {
  const int error = forward(hook_id::cudaGetDriverEntryPoint, symbol, function, flags, status);
  const bool per_thread = (flags & memtrace::per_thread_stream) != 0;
  if (error == 0) replace({symbol, memtrace::no_version, per_thread}, function);
  return error;
}

MEMTRACE_EXPORTED int cudaGetDriverEntryPoint_ptsz(const char* symbol, void** function,
                                                   unsigned long long flags, int* status) {
  const int error = forward(hook_id::cudaGetDriverEntryPoint_ptsz, symbol, function, flags, status);
  const bool per_thread = (flags & memtrace::legacy_stream) == 0;
  if (error == 0) replace({symbol, memtrace::no_version, per_thread}, function);
  return error;
}

MEMTRACE_EXPORTED int cudaGetDriverEntryPointByVersion(const char* symbol, void** function,
                                                       unsigned version, unsigned long long flags,
                                                       int* status) {
  const int error =
      forward(hook_id::cudaGetDriverEntryPointByVersion, symbol, function, version, flags, status);
  const bool per_thread = (flags & memtrace::per_thread_stream) != 0;
  if (error == 0) replace({symbol, static_cast<int>(version), per_thread}, function);
  return error;
}

MEMTRACE_EXPORTED int cudaGetDriverEntryPointByVersion_ptsz(const char* symbol, void** function,
                                                            unsigned version,
                                                            unsigned long long flags, int* status) {
  const int error = forward(hook_id::cudaGetDriverEntryPointByVersion_ptsz, symbol, function,
                            version, flags, status);
  const bool per_thread = (flags & memtrace::legacy_stream) == 0;
  if (error == 0) replace({symbol, static_cast<int>(version), per_thread}, function);
  return error;
}
