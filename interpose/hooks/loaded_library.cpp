// SPDX-License-Identifier: Apache-2.0
#include "interpose/hooks/loaded_library.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace memtrace {
namespace {

struct search {
  const char* prefix;
  loaded_library* found;
};

int visit(dl_phdr_info* info, std::size_t, void* data) {
  auto& wanted = *static_cast<search*>(data);
  if (info->dlpi_name == nullptr) return 0;
  const char* slash = std::strrchr(info->dlpi_name, '/');
  const char* name = slash == nullptr ? info->dlpi_name : slash + 1;
  if (std::strncmp(name, wanted.prefix, std::strlen(wanted.prefix)) != 0) return 0;
  auto& found = *wanted.found;
  try {
    found.path = info->dlpi_name;
  } catch (const std::bad_alloc&) {
    return 0;
  }
  found.base = info->dlpi_addr;
  found.begin = ~std::uintptr_t{0};
  found.end = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    found.begin = std::min<std::uintptr_t>(found.begin, found.base + segment.p_vaddr);
    found.end = std::max<std::uintptr_t>(found.end, found.base + segment.p_vaddr + segment.p_memsz);
  }
  return 1;
}

}  // namespace

bool find_loaded_library(const char* prefix, loaded_library& found) noexcept {
  search wanted{prefix, &found};
  return dl_iterate_phdr(&visit, &wanted) != 0;
}

void* find_in_loaded_library(const char* prefix, const char* symbol) noexcept {
  loaded_library library;
  if (!find_loaded_library(prefix, library)) return nullptr;
  void* const handle = dlopen(library.path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  return handle == nullptr ? nullptr : dlsym(handle, symbol);
}

}  // namespace memtrace
