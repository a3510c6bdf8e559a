// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/driver/call_owner.h"

#include <unwind.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <new>

#include "interpose/ground/base/loaded_library.h"

namespace memtrace {
namespace {

enum class role { asks, is_allocator, is_cuda, passes_on };

// Kept for good: a process has few libraries that call CUDA. One that is unloaded keeps its name
// for what is loaded in its place.
struct caller {
  const caller* next;
  std::uintptr_t begin;
  std::uintptr_t end;
  role what;
  const char* name;
};
std::atomic<const caller*> callers{nullptr};

constexpr unsigned deepest = 64;  // frames

bool is_one_of(const char* name, std::initializer_list<const char*> prefixes) noexcept {
  for (const char* prefix : prefixes) {
    if (std::strncmp(name, prefix, std::strlen(prefix)) == 0) return true;
  }
  return false;
}

role role_of(const char* name) noexcept {
  if (is_one_of(name, {"libc10_cuda.so"})) return role::is_allocator;
  if (is_one_of(name, {"libcudart.", "libcudart-", "libcuda."})) return role::is_cuda;
  if (is_one_of(name, {"libmemtrace.so", "libffi.so", "libffi-", "_ctypes."})) {
    return role::passes_on;
  }
  return role::asks;
}

// The simulator's libraries go by the name of those that they stand in for.
void copy_owner(char* to, const char* name) noexcept {
  constexpr char mark[] = ".simulated";
  const char* const marked = std::strstr(name, mark);
  if (marked == nullptr) {
    std::strcpy(to, name);
    return;
  }
  const auto before = static_cast<std::size_t>(marked - name);
  std::memcpy(to, name, before);
  std::strcpy(to + before, marked + sizeof mark - 1);
}

const caller* keep(const loaded_library& library) noexcept {
  const std::size_t slash = library.path.rfind('/');
  const char* name = library.path.c_str() + (slash == std::string::npos ? 0 : slash + 1);
  const role what = role_of(name);
  if (is_one_of(name, {"libpython"})) name = "";
  void* const memory = ::operator new(sizeof(caller) + std::strlen(name) + 1, std::nothrow);
  if (memory == nullptr) return nullptr;
  char* const text = static_cast<char*>(memory) + sizeof(caller);
  copy_owner(text, name);
  auto* const made = new (memory) caller{nullptr, library.begin, library.end, what, text};
  made->next = callers.load(std::memory_order_relaxed);
  while (!callers.compare_exchange_weak(made->next, made, std::memory_order_release,
                                        std::memory_order_relaxed)) {
  }
  return made;
}

const caller* find(const void* address) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const caller* known = callers.load(std::memory_order_acquire);
  while (known != nullptr && (at < known->begin || at >= known->end)) known = known->next;
  if (known != nullptr) [[likely]]
    return known;
  loaded_library library;
  return find_library_of(address, library) ? keep(library) : nullptr;
}

bool is_looked_through(const caller& one) noexcept {
  return one.what == role::passes_on || one.what == role::is_cuda;
}

struct search {
  const caller* found = nullptr;
  unsigned depth = 0;
};

_Unwind_Reason_Code look_at(_Unwind_Context* context, void* data) {
  auto& wanted = *static_cast<search*>(data);
  const auto at = _Unwind_GetIP(context);
  if (at == 0 || ++wanted.depth > deepest) return _URC_END_OF_STACK;
  const caller* const here = find(reinterpret_cast<const void*>(at));
  if (here == nullptr || is_looked_through(*here)) return _URC_NO_REASON;
  wanted.found = here;
  return _URC_END_OF_STACK;
}

const caller* find_further_out() noexcept {
  search wanted;
  (void)_Unwind_Backtrace(&look_at, &wanted);
  return wanted.found;
}

}  // namespace

std::string_view owner_of(const void* address) noexcept {
  const caller* found = find(address);
  if (found != nullptr && is_looked_through(*found)) found = find_further_out();
  if (found == nullptr || found->what == role::is_allocator) return {};
  return found->name;
}

bool is_from_allocator(const void* address) noexcept {
  const caller* const found = find(address);
  return found != nullptr && found->what == role::is_allocator;
}

bool is_from_cuda(const void* address) noexcept {
  const caller* const found = find(address);
  return found != nullptr && found->what == role::is_cuda;
}

}  // namespace memtrace
