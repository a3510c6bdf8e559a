// SPDX-License-Identifier: Apache-2.0
//
// One look at host memory, and its counters in the recording. From one thread; allocates nothing
// (but for the names, in the thread that starts it).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/door/sampler/child_processes.h"
#include "interpose/door/sampler/memory_limit.h"
#include "interpose/door/sampler/process_memory.h"
#include "interpose/ground/recorder/recorder.h"

namespace memtrace::sampler {

// struct mallinfo2 of glibc 2.33, which older headers lack.
struct heap_facts {
  std::size_t from_kernel, free_chunks, fast_chunks, mappings, mapped, unused, fast_bytes;
  std::size_t in_use, free, at_top;
};

class host_look {
 public:
  void define_names(recorder& to) noexcept;
  // Once, before the others.
  void begin() noexcept;

  // The process by its status, and its limit.
  void process(recorder& to) noexcept;
  // All below it by their status. Whether there are others than before.
  [[nodiscard]] bool children(recorder& to) noexcept;
  [[nodiscard]] bool has_children() const noexcept { return !below_.found().empty(); }
  // Memory of this process and all below it, at the latest looks, a page that several have once for
  // each.
  [[nodiscard]] std::uint64_t resident() const noexcept { return own_resident_ + below_resident_; }
  // This process and all below it by their page tables. Ends early when `stop` is no longer 0.
  void page_tables(recorder& to, const std::atomic<std::uint32_t>& stop) noexcept;

 private:
  struct name_ids {
    std::uint32_t resident, kept, heap_free, proportional;
    std::uint32_t workers, workers_proportional, workers_kept;
    std::uint32_t worker, worker_proportional;
    std::uint32_t limit, limit_used, limit_from;
  };

  void record_limit(recorder& to, const resident_memory& process) noexcept;
  void record_heap(recorder& to, std::uint64_t kept) noexcept;

  name_ids ids_{};
  std::size_t (*simulator_holds_)() = nullptr;      // contents of simulated device memory
  heap_facts (*ask_heap_)() = nullptr;              // mallinfo2, from glibc 2.33 on
  std::uint64_t kept_at_heap_ = ~std::uint64_t{0};  // at the latest look at the heap
  memory_limit limit_;
  limit_state last_limit_{};
  child_processes below_;
  std::uint64_t own_resident_ = 0;
  std::uint64_t below_resident_ = 0;
  // Enough for the mounts of a container host and the status of a process with many groups.
  std::array<char, 64 << 10> buffer_;
};

}  // namespace memtrace::sampler
