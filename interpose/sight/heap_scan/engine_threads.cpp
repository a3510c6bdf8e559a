// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/heap_scan/engine_threads.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

namespace memtrace::census {

namespace {

// pt_autograd_0, …
bool is_engines(const char* thread) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%.20s/comm", thread);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;  // it has ended
  char name[32];
  const ssize_t size = read(file, name, sizeof name);
  close(file);
  return size > 0 &&
         std::string_view(name, static_cast<std::size_t>(size)).starts_with("pt_autograd");
}

}  // namespace

bool engine_has_threads() noexcept {
  DIR* const threads = opendir("/proc/self/task");
  if (threads == nullptr) return true;
  bool found = false;
  while (const dirent* entry = found ? nullptr : readdir(threads)) {
    found = is_engines(entry->d_name);
  }
  closedir(threads);
  return found;
}

}  // namespace memtrace::census
