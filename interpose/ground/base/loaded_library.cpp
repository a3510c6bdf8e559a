// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/base/loaded_library.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace memtrace {
namespace {

struct search {
  const char* prefix;   // of the base name, or null
  const void* address;  // if there is no prefix
  loaded_library* found;
};

void measure(const dl_phdr_info* info, loaded_library& found) noexcept {
  found.base = info->dlpi_addr;
  found.begin = ~std::uintptr_t{0};
  found.end = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    found.begin = std::min<std::uintptr_t>(found.begin, found.base + segment.p_vaddr);
    found.end = std::max<std::uintptr_t>(found.end, found.base + segment.p_vaddr + segment.p_memsz);
  }
}

int visit(dl_phdr_info* info, std::size_t, void* data) {
  auto& wanted = *static_cast<search*>(data);
  if (wanted.prefix != nullptr && !has_base_name(info->dlpi_name, wanted.prefix)) return 0;
  measure(info, *wanted.found);
  if (wanted.prefix == nullptr && !wanted.found->contains(wanted.address)) return 0;
  try {
    wanted.found->path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
  } catch (const std::bad_alloc&) {
    return 0;
  }
  return 1;
}

}  // namespace

bool has_base_name(const char* path, const char* prefix) noexcept {
  if (path == nullptr) return false;
  const char* slash = std::strrchr(path, '/');
  const char* name = slash == nullptr ? path : slash + 1;
  return std::strncmp(name, prefix, std::strlen(prefix)) == 0;
}

bool find_loaded_library(const char* prefix, loaded_library& found) noexcept {
  search wanted{prefix, nullptr, &found};
  return dl_iterate_phdr(&visit, &wanted) != 0;
}

bool find_library_of(const void* address, loaded_library& found) noexcept {
  search wanted{nullptr, address, &found};
  return dl_iterate_phdr(&visit, &wanted) != 0;
}

void* find_in_loaded_library(const char* prefix, const char* symbol) noexcept {
  loaded_library library;
  if (!find_loaded_library(prefix, library)) return nullptr;
  void* const handle = dlopen(library.path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  return handle == nullptr ? nullptr : dlsym(handle, symbol);
}

}  // namespace memtrace
