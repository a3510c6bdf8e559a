// SPDX-License-Identifier: Apache-2.0
//
// The driver's functions that are asked on our own account: none creates a context, waits for the
// GPU or disturbs a stream capture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "interpose/ground/loader/hook_table.h"

namespace memtrace {

// Each null if there is no driver (yet), or an older one.
struct driver_queries {
  int (*context)(void**);
  int (*context_device)(int*);
  int (*memory)(std::size_t*, std::size_t*);
  int (*exchange_mode)(int*);
  int (*device)(int*, int);
  int (*total)(std::size_t*, int);
  int (*name)(char*, int, int);
  int (*attribute)(int*, int, int);
  int (*pci_bus_id)(char*, int, int);
  int (*default_pool)(void**, int);
  int (*current_pool)(void**, int);
  int (*pool_attribute)(void*, int, void*);
  int (*graph_attribute)(int, int, void*);
  int (*count)(int*);
  int (*primary_state)(int, unsigned*, int*);
  int (*stream_device)(void*, int*);  // new in 12.8
  int (*address_range)(std::uint64_t*, std::size_t*, std::uint64_t);
  // cuStreamGetCaptureInfo_v2 of 11.3, which later drivers export too: stream, status, number of
  // the capture, graph, dependencies, how many.
  using capture_question = int(void*, int*, std::uint64_t*, void**, const void**, std::size_t*);
  capture_question* capture;
  capture_question* capture_per_thread;

  // Null until the driver is loaded; then complete but for those that need not be there: capture
  // modes, pools, graphs.
  [[nodiscard]] static const driver_queries* find() noexcept;

  [[nodiscard]] bool has_context() const noexcept;
  // For the current context's device; 0 and 0: not known.
  struct memory_now {
    std::uint64_t free = 0;
    std::uint64_t total = 0;
  };
  [[nodiscard]] memory_now ask_memory() const noexcept;
};

// While it lives, the thread's calls are let through under a global capture, which may refuse all
// but launches.
class [[nodiscard]] capture_exempt {
 public:
  explicit capture_exempt(const driver_queries& driver) noexcept;
  ~capture_exempt();
  capture_exempt(const capture_exempt&) = delete;
  capture_exempt& operator=(const capture_exempt&) = delete;

 private:
  const driver_queries& driver_;
  int mode_;
  bool exchanged_;
};

}  // namespace memtrace

// Whether a stream-ordered call becomes a node of a graph, because its stream is capturing: then it
// allocates when the graph runs, not now.
namespace memtrace::stream_capture {

// The name under which a captured call is recorded (memtrace/cuda_calls.h); null for other calls
// than those that can be captured.
[[nodiscard]] const char* captured_name(hook_id id) noexcept;

// The graph that the stream of such a call is being captured into; nothing if it is not.
[[nodiscard]] std::optional<std::uint64_t> graph_of(hook_id id, void* stream) noexcept;

}  // namespace memtrace::stream_capture
