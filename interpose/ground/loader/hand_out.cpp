// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/loader/hand_out.h"

#include <dlfcn.h>

#include <atomic>
#include <cctype>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "interpose/ground/base/own_library.h"
#include "interpose/ground/loader/elf_exports.h"
#include "interpose/ground/loader/hook_table.h"
#include "interpose/ground/loader/known_names.h"
#include "interpose/ground/loader/several_runtimes.h"
#include "interpose/ground/loader/unknown_names.h"
#include "memtrace/cuda_calls.h"

namespace memtrace {
namespace {

// These only say what memory is for, and lead to the library that their caller was linked with:
// a pointer to one says nothing of where it leads.
constexpr std::string_view bound_by_caller[] = {
#define HANDS_OVER(family, name, ...) #name,
#include "interpose/ground/loader/hooks.def"
};

bool is_handed_out(const hook& one) noexcept {
  if (one.family == library_family::c_library || std::strncmp(one.name, "cu", 2) != 0) return false;
  for (const std::string_view name : bound_by_caller) {
    if (name == one.name) return false;
  }
  return true;
}

hook* find_any(std::string_view name) noexcept {
  for (hook& one : hooks) {
    if (name == one.name && one.family != library_family::c_library) return &one;
  }
  return nullptr;
}

hook* find_hook(std::string_view name) noexcept {
  hook* const found = find_any(name);
  return found != nullptr && is_handed_out(*found) ? found : nullptr;
}

bool is_of_cuda(const void* function) noexcept {
  return is_from_family(library_family::driver, function) ||
         is_from_family(library_family::runtime, function);
}

bool are_in_one_library(const void* one, const void* other) noexcept {
  Dl_info its;
  Dl_info others;
  return dladdr(one, &its) != 0 && dladdr(other, &others) != 0 && its.dli_fbase == others.dli_fbase;
}

// The functions of one driver that go by one name do the same; two runtimes have each their own
// state, and so their own functions: what they ask of the driver is recorded.
bool leads_to(hook& entry, void* found) noexcept {
  if (entry.family == library_family::runtime && several_runtimes::are_there()) return false;
  void* real = entry.real.load(std::memory_order_relaxed);
  if (real == nullptr) real = find_real_function(static_cast<hook_id>(&entry - hooks));
  if (real == nullptr && is_from_family(entry.family, found)) {
    if (entry.real.compare_exchange_strong(real, found, std::memory_order_relaxed)) return true;
  }
  if (real == found) return true;
  return entry.family == library_family::driver && real != nullptr &&
         are_in_one_library(real, found);
}

void* wrapper_of(hook& entry, void* found, int version) noexcept {
  if (!leads_to(entry, found)) {
    if (is_of_cuda(found)) unknown_names::count(entry.name, version, unknown_names::why::another);
    return found;
  }
  void* const wrapper = find_export_beside(&__ehdr_start[0], entry.name);
  return wrapper == nullptr ? found : wrapper;
}

// The hook under whose name the driver exports the very function that it answered with. One
// function may have two names: then that of the version asked for.
hook* find_exact(const driver_query& query, const char* expected, const void* found) noexcept {
  hook* match = nullptr;
  for (hook& one : hooks) {
    if (one.family != library_family::driver || !is_handed_out(one)) continue;
    if (format::base_name(one.name) != query.name) continue;
    if (find_export_beside(found, one.name) != found) continue;
    if (match == nullptr || std::strcmp(one.name, expected) == 0) match = &one;
  }
  return match;
}

bool is_exported_as_another(const char* expected, const void* found) noexcept {
  Dl_info its;
  return dladdr(found, &its) != 0 && its.dli_saddr == found && its.dli_sname != nullptr &&
         std::strcmp(its.dli_sname, expected) != 0;
}

bool has_hook(const char* base) noexcept {
  for (const hook& one : hooks) {
    if (one.family == library_family::driver && format::base_name(one.name) == base) return true;
  }
  return false;
}

}  // namespace

bool is_of_interest(const char* name) noexcept {
  if (name[0] != 'c' || name[1] != 'u') return false;
  if (find_hook(name) != nullptr) return true;
  const char* const rest = std::strncmp(name, "cuda", 4) == 0 ? name + 4 : name + 2;
  return std::isupper(static_cast<unsigned char>(*rest)) != 0 && !is_known_name(name);
}

void* instead_of_symbol(const char* name, void* found) noexcept {
  if (is_own(found)) return found;
  if (hook* const entry = find_hook(name); entry != nullptr) return wrapper_of(*entry, found, 0);
  if (is_of_cuda(found)) unknown_names::count(name, 0, unknown_names::why::unknown);
  return found;
}

bool has_wrapper(const char* name) noexcept {
  const bool is_mangled = name[0] == '_' && name[1] == 'Z';
  if (!is_mangled) return name[0] == 'c' && name[1] == 'u' && find_any(name) != nullptr;
  // Of the many thousand names of C++ in PyTorch's tables a few are in this one, at its end.
  static constinit std::atomic<std::size_t> first{0};
  std::size_t at = first.load(std::memory_order_relaxed);
  if (at == 0) {
    while (at < hook_count && hooks[at].name[0] != '_') ++at;
    first.store(at, std::memory_order_relaxed);
  }
  for (; at < hook_count; ++at) {
    if (std::strcmp(hooks[at].name, name) == 0) return true;
  }
  return false;
}

void* instead_of_bound(const char* name, void* found) noexcept {
  hook* const entry = find_any(name);
  if (entry == nullptr || is_handed_out(*entry) || is_own(found)) {
    return instead_of_symbol(name, found);
  }
  if (find_real_function(static_cast<hook_id>(entry - hooks)) == nullptr) {
    void* none = nullptr;
    entry->real.compare_exchange_strong(none, found, std::memory_order_relaxed);
  }
  void* const wrapper = find_export_beside(&__ehdr_start[0], entry->name);
  return wrapper == nullptr ? found : wrapper;
}

void* instead_of_entry_point(const driver_query& query, void* found) noexcept {
  if (is_own(found)) return found;
  if (!has_hook(query.name)) {
    if (!is_known_name(query.name)) {
      unknown_names::count(query.name, query.version, unknown_names::why::unknown);
    }
    return found;
  }
  const driver_symbol expected =
      query.version == 0 ? only_symbol(query.name, query.per_thread_stream)
                         : symbol_of_version(query.name, query.version, query.per_thread_stream);
  const char* const symbol = expected.text.data();
  hook* entry = find_exact(query, symbol, found);
  if (entry == nullptr && !is_exported_as_another(symbol, found)) entry = find_hook(symbol);
  if (entry != nullptr) return wrapper_of(*entry, found, query.version);
  unknown_names::count(query.name, query.version, unknown_names::why::another);
  return found;
}

}  // namespace memtrace
