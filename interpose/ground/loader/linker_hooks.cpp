// SPDX-License-Identifier: Apache-2.0
//
// The work done before the program's dlsym, dlvsym and dlopen go on to the real ones (the ways in
// and out are in linker_entry.S):
//
//   from this library or the driver, or no name of hooks.def   straight on
//   RTLD_DEFAULT, RTLD_NEXT   straight on: the linker itself finds the wrapper, unless the caller
//                             was bound deep; not found where it would have found nothing without
//                             us
//   a handle                  the real answer, or its wrapper
//
// dlopen only remembers that libraries come, and whether those bind to their own dependencies
// first.
#include <dlfcn.h>

#include <atomic>

#include "interpose/ground/base/errno_keeper.h"
#include "interpose/ground/base/loaded_library.h"
#include "interpose/ground/base/own_library.h"
#include "interpose/ground/loader/deep_binding.h"
#include "interpose/ground/loader/elf_exports.h"
#include "interpose/ground/loader/hand_out.h"
#include "interpose/ground/loader/real_function.h"
#include "interpose/ground/loader/several_runtimes.h"

namespace memtrace::linker {
namespace {

// The dynamic linker's functions behind the ones that we export (linker_entry.S).
using find_symbol = void*(void* handle, const char* name);
using find_versioned_symbol = void*(void* handle, const char* name, const char* version);
using open_library = void*(const char* file, int mode);

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

// Where the program's calls go on to: another library's that stands behind us, else the C
// library's own.
find_symbol* next_dlsym() noexcept {
  return reinterpret_cast<find_symbol*>(next(known_dlsym, "dlsym"));
}
find_versioned_symbol* next_dlvsym() noexcept {
  return reinterpret_cast<find_versioned_symbol*>(next(known_dlvsym, "dlvsym"));
}
open_library* next_dlopen() noexcept {
  return reinterpret_cast<open_library*>(next(known_dlopen, "dlopen"));
}

// While there is one thread, and nothing of the program has run.
[[gnu::constructor]] void on_load() {
  (void)next_dlsym();
  (void)next_dlvsym();
  (void)next_dlopen();
}

struct decision {
  void* jump;
  void* answer;
};

// Fails, and leaves dlerror with that.
void* fail_to_find(const char* name) noexcept {
  find_symbol* const find = next_dlsym();
  return find == nullptr ? nullptr : find(RTLD_NEXT, name);
}

// Whether a search of the global scope, or of the caller's own, would end at a real function if we
// were not in the way. The program itself has no other scope; of a library that was opened with
// others the linker does not tell, so that any library with the function counts.
bool is_there_without_us(const void* handle, const char* name, const void* caller) noexcept {
  const errno_keeper errno_stays;
  find_symbol* const find = next_dlsym();
  if (find == nullptr || is_exported_before(name) || find(RTLD_NEXT, name) != nullptr) return true;
  loaded_library asking;
  if (find_library_of(caller, asking) && asking.path.empty()) return false;
  return handle == RTLD_NEXT || is_exported_elsewhere(name);
}

void* after_lookup(const char* name, void* found) noexcept {
  const errno_keeper errno_stays;
  if (found == nullptr) return nullptr;
  if (is_own(found)) return is_exported_elsewhere(name) ? found : fail_to_find(name);
  void* const handed = instead_of_symbol(name, found);
  // Looking for the real function may have failed in between; the program's own look-up did not.
  (void)dlerror();
  return handed;
}

// In the scope of a library that was bound deep its own comes first: what RTLD_DEFAULT finds there.
// Null if that has no such function.
void* find_in_own_scope(const char* name, const void* caller) noexcept {
  const errno_keeper errno_stays;
  loaded_library library;
  if (!deep_binding::is_bound_deep(caller) || !find_library_of(caller, library)) return nullptr;
  void* const handle = dlopen(library.path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  find_symbol* const find = next_dlsym();
  void* found = find(handle, name);
  dlclose(handle);
  // Of the global scope this library is the last, and no wrapper is found there.
  if (found == nullptr && deep_binding::binds_everything()) found = find(RTLD_DEFAULT, name);
  return after_lookup(name, found);
}

// Whether it is settled before the name is looked up.
bool goes_straight_on(const char* name, const void* caller) noexcept {
  if (is_own(caller)) return true;
  const errno_keeper errno_stays;
  deep_binding::look_if_due();
  // A driver that looks up functions of its other parts must find those.
  return name == nullptr || !is_of_interest(name) || is_from_family(library_family::driver, caller);
}

}  // namespace
}  // namespace memtrace::linker

using memtrace::linker::decision;

extern "C" [[gnu::visibility("hidden")]] decision memtrace_before_dlsym(
    void* handle, const char* name, const void* caller) noexcept {
  using namespace memtrace::linker;
  auto* const real = next_dlsym();
  void* const jump = reinterpret_cast<void*>(real);
  if (real == nullptr || goes_straight_on(name, caller)) return {jump, nullptr};
  if (handle == RTLD_DEFAULT || handle == RTLD_NEXT) {
    if (handle == RTLD_DEFAULT) {
      if (void* const own = find_in_own_scope(name, caller); own != nullptr) return {nullptr, own};
    }
    if (is_there_without_us(handle, name, caller)) return {jump, nullptr};
    return {nullptr, fail_to_find(name)};
  }
  return {nullptr, after_lookup(name, real(handle, name))};
}

extern "C" [[gnu::visibility("hidden")]] decision memtrace_before_dlvsym(
    void* handle, const char* name, const char* version, const void* caller) noexcept {
  using namespace memtrace::linker;
  auto* const real = next_dlvsym();
  void* const jump = reinterpret_cast<void*>(real);
  if (real == nullptr || goes_straight_on(name, caller)) return {jump, nullptr};
  // Our own functions have no version: what the linker finds by one is not ours.
  if (handle == RTLD_DEFAULT || handle == RTLD_NEXT) return {jump, nullptr};
  return {nullptr, after_lookup(name, real(handle, name, version))};
}

extern "C" [[gnu::visibility("hidden")]] decision memtrace_before_dlopen(
    const char*, int mode, const void* caller) noexcept {
  using namespace memtrace::linker;
  if (!memtrace::is_own(caller)) {
    const memtrace::errno_keeper errno_stays;
    memtrace::deep_binding::before_open((mode & RTLD_DEEPBIND) != 0);
    memtrace::several_runtimes::before_open();
  }
  return {reinterpret_cast<void*>(next_dlopen()), nullptr};
}
