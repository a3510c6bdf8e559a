// SPDX-License-Identifier: Apache-2.0
//
// Makes one call after another, every hooked function through every way to it, and prints what the
// program sees of each: result, errno, the runtime's last error, what was written where.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <tuple>

#include "world.h"

// As hooks.def spells the structures that go by value.
namespace memtrace {
struct cuda_extent {
  std::size_t width, height, depth;
};
struct cuda_pitched {
  void* pointer;
  std::size_t pitch, width, height;
};
struct cuda_ipc_handle {
  char bytes[64];
};
}  // namespace memtrace

namespace runner {

enum class kind {
  success,
  again,         // the same arguments once more: a second free
  other_device,  // while another device is current
  null,
  bogus,
  capture,
};

struct row {
  const char* symbol;
  const char* name;  // without version and _ptsz
  bool of_driver;
  int since;  // the CUDA version from which on the name means this symbol
  bool per_thread;
  bool releases;
  bool alone;   // not while other threads use CUDA
  bool resets;  // ends all that was made
  void (*call)(void* function, kind what);
};

extern const row rows[];
extern const int row_count;
// The function as the linker bound it; null if there is none.
void* linked(int row);

void report(int error, int errno_after, int last_error);
void report_capture(int error);

template <typename... Parameters>
int perform(int (*function)(Parameters...), const std::tuple<Parameters...>& arguments) {
  world::clear_slots();
  constexpr int errno_before = 77;
  (void)cudaGetLastError();
  errno = errno_before;
  const int error = std::apply(function, arguments);
  const int errno_after = errno;
  report(error, errno_after, static_cast<int>(cudaGetLastError()));
  return error;
}

template <typename... Parameters>
void perform_in_capture(int (*function)(Parameters...),
                        const std::tuple<Parameters...>& arguments) {
  world::begin_capture();
  (void)perform(function, arguments);
  report_capture(world::end_capture());
}

inline memtrace::cuda_ipc_handle by_value(world::value handle) {
  memtrace::cuda_ipc_handle copy;
  std::memcpy(&copy, static_cast<const void*>(handle), sizeof copy);
  return copy;
}

inline const char* text(const char* same) {
  return same;
}

// Everything, or what another argument names: "threads".
int run(const char* what);

}  // namespace runner
