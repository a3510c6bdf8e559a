// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/loader/linker.h"

#include <dlfcn.h>

#include <atomic>

#include "interpose/ground/loader/elf_exports.h"

namespace memtrace::linker {
namespace {

std::atomic<void*> known_dlsym{nullptr};
std::atomic<void*> known_dlvsym{nullptr};
std::atomic<void*> known_dlopen{nullptr};

// libc's, or libdl's before glibc 2.34, read from the library itself: asking dlsym for dlsym would
// ask ourselves.
void* of_c_library(const char* name) noexcept {
  void* const found = find_export_in("libc.so", name);
  return found != nullptr ? found : find_export_in("libdl.so", name);
}

void* next(std::atomic<void*>& known, const char* name) noexcept {
  void* found = known.load(std::memory_order_relaxed);
  if (found != nullptr) [[likely]]
    return found;
  void* const own = of_c_library("dlsym");
  if (own == nullptr) return nullptr;
  // Called from here: what comes after this library.
  found = reinterpret_cast<find_symbol*>(own)(RTLD_NEXT, name);
  if (found == nullptr) found = of_c_library(name);
  known.store(found, std::memory_order_relaxed);
  return found;
}

// While there is one thread, and nothing of the program has run.
[[gnu::constructor]] void on_load() {
  (void)next_dlsym();
  (void)next_dlvsym();
  (void)next_dlopen();
}

}  // namespace

find_symbol* next_dlsym() noexcept {
  return reinterpret_cast<find_symbol*>(next(known_dlsym, "dlsym"));
}
find_versioned_symbol* next_dlvsym() noexcept {
  return reinterpret_cast<find_versioned_symbol*>(next(known_dlvsym, "dlvsym"));
}
open_library* next_dlopen() noexcept {
  return reinterpret_cast<open_library*>(next(known_dlopen, "dlopen"));
}

}  // namespace memtrace::linker
