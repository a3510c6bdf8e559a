// SPDX-License-Identifier: Apache-2.0
#include "interpose/autograd/real_behind.h"

#include <dlfcn.h>

#include "interpose/base/loaded_library.h"

namespace memtrace::autograd {

// A library's handle searches the library and those that it was linked with.
void* find_behind_caller(hook_id id, const void* caller) noexcept {
  hook& wanted = hooks[static_cast<unsigned>(id)];
  loaded_library library;
  if (!find_library_of(caller, library)) return nullptr;
  void* const handle = dlopen(library.path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  void* const real = handle == nullptr ? nullptr : dlsym(handle, wanted.name);
  if (real != nullptr) wanted.real.store(real, std::memory_order_relaxed);
  return real;
}

}  // namespace memtrace::autograd
