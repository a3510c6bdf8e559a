// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/loader/caller_binding.h"

#include <dlfcn.h>

#include <new>

#include "interpose/ground/base/loaded_library.h"
#include "interpose/ground/loader/real_function.h"

namespace memtrace {
namespace {

// In the libraries that the calling one needs, nearest first, as the dynamic linker would look
// were there no preloaded ones. Null for the program itself, whose search begins with those.
void* find_in_needed(const loaded_library& caller, const char* symbol) noexcept {
  if (caller.path.empty()) return nullptr;
  void* const handle = dlopen(caller.path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  return handle == nullptr ? nullptr : dlsym(handle, symbol);
}

bool is_ours(const void* function) noexcept {
  static constexpr char here = 0;
  Dl_info ours;
  Dl_info its;
  return dladdr(&here, &ours) != 0 && dladdr(function, &its) != 0 &&
         ours.dli_fbase == its.dli_fbase;
}

// Whether another preloaded library stands in front of the function too, behind us.
bool has_another_wrapper(const hook& wanted) noexcept {
  const void* const next = dlsym(RTLD_NEXT, wanted.name);
  return next != nullptr && !is_from_family(wanted.family, next);
}

void keep(const loaded_library& caller, void* real, caller_bindings& known) noexcept {
  void* const memory = ::operator new(sizeof(caller_binding), std::nothrow);
  if (memory == nullptr) return;
  auto* const made = new (memory) caller_binding{nullptr, caller.begin, caller.end, real};
  made->next = known.load(std::memory_order_relaxed);
  while (!known.compare_exchange_weak(made->next, made, std::memory_order_release,
                                      std::memory_order_relaxed)) {
  }
}

}  // namespace

void* bind_caller(hook_id id, const void* caller, caller_bindings& known) noexcept {
  const hook& wanted = hooks[static_cast<unsigned>(id)];
  loaded_library library;
  const bool is_known = find_library_of(caller, library);
  void* real = nullptr;
  if (is_known && !has_another_wrapper(wanted)) real = find_in_needed(library, wanted.name);
  if (real == nullptr || is_ours(real)) real = find_real_function(id);
  if (real != nullptr && is_known) keep(library, real, known);
  return real;
}

}  // namespace memtrace
