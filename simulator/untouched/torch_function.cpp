// SPDX-License-Identifier: Apache-2.0
#include "simulator/untouched/torch_function.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <string_view>

namespace memtrace::simulator::untouched {
namespace {

constexpr std::string_view file = "libtorch_cpu.so";

std::atomic<std::uintptr_t> code_begin{0};
std::atomic<std::uintptr_t> code_end{0};

int take_code_of_torch(dl_phdr_info* library, std::size_t, void*) {
  const std::string_view name = library->dlpi_name != nullptr ? library->dlpi_name : "";
  if (name.size() < file.size() || name.substr(name.size() - file.size()) != file) return 0;
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const auto& part = library->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    const std::uintptr_t begin = library->dlpi_addr + part.p_vaddr;
    code_end.store(begin + part.p_memsz, std::memory_order_relaxed);
    code_begin.store(begin, std::memory_order_release);
    return 1;
  }
  return 0;
}

bool is_asked_for() {
  const char* const value = std::getenv("MEMTRACE_SIM_FAST_INIT");
  return value != nullptr && std::string_view(value) == "1";
}

}  // namespace

const bool is_on = is_asked_for();

void* find_torch_function(const char* symbol) noexcept {
  void* const torch = ::dlopen(file.data(), RTLD_LAZY | RTLD_NOLOAD);
  if (torch == nullptr) return nullptr;
  void* const found = ::dlsym(torch, symbol);
  ::dlclose(torch);
  return found;
}

bool is_in_torch(const void* code) noexcept {
  if (code_begin.load(std::memory_order_acquire) == 0) {
    ::dl_iterate_phdr(take_code_of_torch, nullptr);
  }
  const auto at = reinterpret_cast<std::uintptr_t>(code);
  return code_begin.load(std::memory_order_acquire) <= at &&
         at < code_end.load(std::memory_order_relaxed);
}

}  // namespace memtrace::simulator::untouched
