// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/loader/several_runtimes.h"

#include <link.h>

#include "interpose/ground/base/errno_keeper.h"
#include "interpose/ground/base/loaded_library.h"

namespace memtrace::several_runtimes {
namespace {

// As many libraries as the process had ever loaded when the runtimes were counted.
std::atomic<unsigned long long> counted_at{0};

int read_loaded(dl_phdr_info* library, std::size_t, void* data) {
  *static_cast<unsigned long long*>(data) = library->dlpi_adds;
  return 1;
}

int count_runtime(dl_phdr_info* library, std::size_t, void* data) {
  if (has_base_name(library->dlpi_name, "libcudart.so")) ++*static_cast<int*>(data);
  return 0;
}

}  // namespace

std::atomic<answer> last_answer{answer::not_known};

bool find_out() noexcept {
  if (last_answer.load(std::memory_order_relaxed) == answer::yes) return true;
  const errno_keeper errno_stays;
  unsigned long long loaded = 0;
  dl_iterate_phdr(&read_loaded, &loaded);
  // Nothing has come since: what is being opened may still.
  if (counted_at.load(std::memory_order_relaxed) == loaded) return false;
  int runtimes = 0;
  dl_iterate_phdr(&count_runtime, &runtimes);
  counted_at.store(loaded, std::memory_order_relaxed);
  last_answer.store(runtimes > 1 ? answer::yes : answer::no, std::memory_order_relaxed);
  return runtimes > 1;
}

void before_open() noexcept {
  if (last_answer.load(std::memory_order_relaxed) == answer::no) {
    last_answer.store(answer::not_known, std::memory_order_relaxed);
  }
}

}  // namespace memtrace::several_runtimes
