// SPDX-License-Identifier: Apache-2.0
#include "interpose/door/api/nvtx.h"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "interpose/door/api/nvtx_calls.h"
#include "interpose/door/api/nvtx_interface.h"
#include "interpose/ground/base/errno_keeper.h"
#include "interpose/ground/base/exported.h"
#include "interpose/ground/base/settings.h"
#include "interpose/ground/session/session.h"

MEMTRACE_EXPORTED int InitializeInjectionNvtx2(const void* (*tables)(std::uint32_t));

namespace memtrace::nvtx {
namespace {

constexpr char tool_variable[] = "NVTX_INJECTION64_PATH";

using ask_environment = char*(const char*);
std::atomic<ask_environment*> real_getenv{nullptr};
char own_path[PATH_MAX];
std::atomic<bool> is_offered{false};

// Before anybody is traced, and not when it is first asked: looking a name up may allocate, and an
// allocator that is just starting asks the environment.
[[gnu::constructor]] void find_real() noexcept {
  real_getenv.store(reinterpret_cast<ask_environment*>(dlsym(RTLD_NEXT, "getenv")),
                    std::memory_order_relaxed);
}

// As the C library's does.
char* look_up(const char* name) noexcept {
  const std::size_t length = std::strlen(name);
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (std::strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') {
      return *entry + length + 1;
    }
  }
  return nullptr;
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
  if (!settings::is_on(capability::nvtx)) return;
  Dl_info ours;
  if (dladdr(reinterpret_cast<void*>(&InitializeInjectionNvtx2), &ours) == 0) return;
  if (realpath(ours.dli_fname, own_path) == nullptr) return;
  is_offered.store(true, std::memory_order_release);
}

}  // namespace memtrace::nvtx

// NVTX calls this at the first use of each of its instances; 0 means that there is no tool.
MEMTRACE_EXPORTED int InitializeInjectionNvtx2(const void* (*tables)(std::uint32_t)) {
  const memtrace::errno_keeper errno_stays;
  using namespace memtrace;
  if (session::is_impossible() || !settings::is_on(capability::nvtx) || !nvtx::is_preloaded())
    return 0;
  return nvtx::install(tables);
}

// Each instance of NVTX asks the environment for the tool's path at its first call. Ours is in the
// answer and never in the environment, which children inherit: those without the preload would
// load a library that serves them nothing.
MEMTRACE_EXPORTED char* getenv(const char* name) noexcept {
  using namespace memtrace::nvtx;
  auto* const real = real_getenv.load(std::memory_order_relaxed);
  char* const found = real == nullptr ? look_up(name) : real(name);
  if (found != nullptr || name[0] != tool_variable[0]) [[likely]]
    return found;
  if (!is_offered.load(std::memory_order_acquire) || std::strcmp(name, tool_variable) != 0) {
    return nullptr;
  }
  return own_path;
}
