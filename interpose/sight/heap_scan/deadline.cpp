// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/heap_scan/deadline.h"

#include <fcntl.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>

namespace memtrace::heap_scan {

namespace {

// In all of the thread's life; 0 where the kernel does not tell.
std::uint64_t waited() noexcept {
  const int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[128];
  const ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  if (size <= 0) return 0;
  text[size] = '\0';
  std::uint64_t ran = 0, waited = 0;
  return std::sscanf(text, "%" SCNu64 " %" SCNu64, &ran, &waited) == 2 ? waited : 0;
}

}  // namespace

waiting_time::waiting_time() noexcept : before_ns_(waited()) {}

std::uint64_t waiting_time::so_far_ns() const noexcept {
  const std::uint64_t now = waited();
  return now > before_ns_ ? now - before_ns_ : 0;
}

}  // namespace memtrace::heap_scan
