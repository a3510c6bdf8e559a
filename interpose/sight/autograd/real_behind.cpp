// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/autograd/real_behind.h"

#include <dlfcn.h>

#include "interpose/ground/base/loaded_library.h"
#include "interpose/ground/base/own_library.h"

namespace memtrace::autograd {

namespace {

// A library's handle searches the library and those that it was linked with.
void* find_in_scope_of(const void* caller, const char* symbol) noexcept {
  loaded_library library;
  if (!find_library_of(caller, library)) return nullptr;
  void* const handle = dlopen(library.path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  return handle == nullptr ? nullptr : dlsym(handle, symbol);
}

}  // namespace

void* find_behind_caller(hook_id id, const void* caller) noexcept {
  hook& wanted = hooks[static_cast<unsigned>(id)];
  void* const real = find_in_scope_of(caller, wanted.name);
  // The program's scope begins with ourselves.
  if (real == nullptr || is_own(real)) die_without(id);
  wanted.real.store(real, std::memory_order_relaxed);
  return real;
}

}  // namespace memtrace::autograd
