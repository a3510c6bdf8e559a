// SPDX-License-Identifier: Apache-2.0
//
// Finding a driver function by name and CUDA version.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "simulator/core/call_log.h"
#include "simulator/core/errors.h"
#include "simulator/core/export.h"

// The header renames these to their current version; each is exported here.
#undef cuGetProcAddress
#undef cudaGetDriverEntryPoint

namespace memtrace::simulator {

struct resolved {
  void* function;
  CUdriverProcAddressQueryResult status;
};

// The function that `name` means to a program made for CUDA `version` (12040 is 12.4). Names that
// the simulator lacks go into the call log.
[[nodiscard]] resolved resolve(const char* name, int version, std::uint64_t flags);

namespace {

struct versioned_name {
  const char* name;
  int version;
  const char* symbol;
};

constexpr versioned_name versions[] = {
#define MEMTRACE_VERSION(name, version, symbol) {name, version, symbol},
#include "simulator/driver_versions.def"
#undef MEMTRACE_VERSION
};

void* own_handle() {
  static void* const handle = [] {
    Dl_info self{};
    dladdr(reinterpret_cast<void*>(&resolve), &self);
    return dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }();
  return handle;
}

// This library's function before any other of the name: a library preloaded to watch calls has its
// own, which would find itself behind itself. Then the generated functions.
void* symbol_named(const std::string& name) {
  if (own_handle() != nullptr) {
    if (void* own = dlsym(own_handle(), name.c_str())) return own;
  }
  return dlsym(RTLD_DEFAULT, name.c_str());
}

}  // namespace

resolved resolve(const char* name, int version, std::uint64_t flags) {
  std::string symbol = name;
  bool known = false;
  bool old_enough = false;
  for (const versioned_name& one : versions) {
    if (std::string_view(name) != one.name) continue;
    known = true;
    if (one.version > version) continue;
    old_enough = true;
    symbol = one.symbol;
  }
  if (known && !old_enough) return {nullptr, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT};
  void* function = nullptr;
  if ((flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0) {
    function = symbol_named(symbol + "_ptsz");
    if (function == nullptr) function = symbol_named(symbol + "_ptds");
  }
  if (function == nullptr) function = symbol_named(symbol);
  if (function == nullptr && *name != '\0') log_call("unresolved", symbol.c_str());
  const auto status =
      function == nullptr ? CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND : CU_GET_PROC_ADDRESS_SUCCESS;
  return {function, status};
}

}  // namespace memtrace::simulator

using namespace memtrace::simulator;

namespace {

constexpr std::uint64_t known_flags =
    CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;

CUresult query(const char* name, void** function, int version, std::uint64_t flags,
               CUdriverProcAddressQueryResult* status) {
  if (!name || !function || (flags & ~known_flags) != 0) return CUDA_ERROR_INVALID_VALUE;
  if (version > CUDA_VERSION) return CUDA_ERROR_INVALID_VALUE;
  const resolved found = resolve(name, version, flags);
  *function = found.function;
  if (status) *status = found.status;
  return CUDA_SUCCESS;
}

cudaError_t entry_point(const char* name, void** function, unsigned version, std::uint64_t flags,
                        cudaDriverEntryPointQueryResult* status) {
  auto result = CU_GET_PROC_ADDRESS_SUCCESS;
  const CUresult error = query(name, function, static_cast<int>(version), flags, &result);
  if (error != CUDA_SUCCESS) return remember(cudaErrorInvalidValue);
  if (status) *status = static_cast<cudaDriverEntryPointQueryResult>(result);
  return cudaSuccess;
}

}  // namespace

// The first version has no status and reports an unknown name as an error.
MEMTRACE_API CUresult cuGetProcAddress(const char* name, void** function, int version,
                                       cuuint64_t flags) {
  const CUresult error = query(name, function, version, flags, nullptr);
  if (error == CUDA_SUCCESS && *function == nullptr) return CUDA_ERROR_NOT_FOUND;
  return error;
}

MEMTRACE_API CUresult cuGetProcAddress_v2(const char* name, void** function, int version,
                                          cuuint64_t flags,
                                          CUdriverProcAddressQueryResult* status) {
  return query(name, function, version, flags, status);
}

MEMTRACE_API cudaError_t cudaGetDriverEntryPoint(const char* name, void** function,
                                                 unsigned long long flags,
                                                 cudaDriverEntryPointQueryResult* status) {
  return entry_point(name, function, CUDART_VERSION, flags, status);
}

MEMTRACE_API cudaError_t cudaGetDriverEntryPoint_ptsz(const char* name, void** function,
                                                      unsigned long long flags,
                                                      cudaDriverEntryPointQueryResult* status) {
  const unsigned long long per_thread =
      flags != 0 ? flags : std::uint64_t{CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM};
  return entry_point(name, function, CUDART_VERSION, per_thread, status);
}

MEMTRACE_API cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function,
                                                          unsigned version,
                                                          unsigned long long flags,
                                                          cudaDriverEntryPointQueryResult* status) {
  return entry_point(name, function, version, flags, status);
}

MEMTRACE_API cudaError_t cudaGetDriverEntryPointByVersion_ptsz(
    const char* name, void** function, unsigned version, unsigned long long flags,
    cudaDriverEntryPointQueryResult* status) {
  const unsigned long long per_thread =
      flags != 0 ? flags : std::uint64_t{CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM};
  return entry_point(name, function, version, per_thread, status);
}

// Tables of undocumented functions: none here. The real runtime and static copies of it refuse to
// work then, and say so.
MEMTRACE_API CUresult cuGetExportTable(const void** table, const CUuuid*) {
  log_call("unsupported", "cuGetExportTable");
  if (table) *table = nullptr;
  return CUDA_ERROR_NOT_SUPPORTED;
}
