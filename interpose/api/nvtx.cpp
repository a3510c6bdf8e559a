// SPDX-License-Identifier: Apache-2.0
#include "interpose/api/nvtx.h"

#include <dlfcn.h>

#include <climits>
#include <cstdlib>
#include <cstring>

#include "interpose/api/nvtx_calls.h"
#include "interpose/api/nvtx_interface.h"
#include "interpose/base/errno_keeper.h"
#include "interpose/base/exported.h"
#include "interpose/session/session.h"

MEMTRACE_EXPORTED int InitializeInjectionNvtx2(const void* (*tables)(std::uint32_t));

namespace memtrace::nvtx {
namespace {

constexpr char tool_variable[] = "NVTX_INJECTION64_PATH";

bool is_wanted() noexcept {
  const char* const value = std::getenv("MEMTRACE_NVTX");
  return value == nullptr || std::strcmp(value, "0") != 0;
}

// False in a process that has inherited the variable but not the preload: NVTX has just loaded us,
// nothing else of the process is traced.
bool is_preloaded() noexcept {
  void* const process = dlopen(nullptr, RTLD_LAZY);
  return process != nullptr && dlsym(process, "InitializeInjectionNvtx2") ==
                                   reinterpret_cast<void*>(&InitializeInjectionNvtx2);
}

int install(const void* (*tables)(std::uint32_t)) noexcept {
  const auto* const callbacks = static_cast<const callbacks_table*>(tables(callbacks_table_id));
  if (callbacks == nullptr || callbacks->bytes < sizeof(callbacks_table)) return 0;
  for (const served_call& call : served_calls()) {
    function_table table = nullptr;
    unsigned entries = 0;
    if (callbacks->find_table(call.module, &table, &entries) == 0 || table == nullptr) return 0;
    if (call.index < entries && table[call.index] != nullptr) *table[call.index] = call.serve;
  }
  return 1;
}

}  // namespace

void offer() noexcept {
  if (!is_wanted() || std::getenv(tool_variable) != nullptr) return;
  Dl_info ours;
  char path[PATH_MAX];
  if (dladdr(reinterpret_cast<void*>(&InitializeInjectionNvtx2), &ours) == 0) return;
  if (realpath(ours.dli_fname, path) == nullptr) return;
  setenv(tool_variable, path, 0);
}

}  // namespace memtrace::nvtx

// What NVTX calls at the first use of each of its instances; 0 means that there is no tool.
MEMTRACE_EXPORTED int InitializeInjectionNvtx2(const void* (*tables)(std::uint32_t)) {
  const memtrace::errno_keeper errno_stays;
  using namespace memtrace;
  if (session::is_impossible() || !nvtx::is_wanted() || !nvtx::is_preloaded()) return 0;
  return nvtx::install(tables);
}
