// SPDX-License-Identifier: Apache-2.0
//
// The counters (trace_format.h) that the recorder itself takes of memory outside PyTorch's pool,
// over time. Values are bytes unless said otherwise. Counters of one moment follow each other, with
// one time. A name that begins with `prefix` is no counter of the program.
#pragma once

namespace memtrace::format::host {

inline constexpr char prefix[] = "memtrace.";

// The traced process, as the kernel tells it.
inline constexpr char resident[] = "memtrace.host.rss";
// Of that what the kernel cannot drop: anonymous and shared memory, and what was swapped out.
inline constexpr char kept[] = "memtrace.host.kept";
// Its share of the pages that it has in common with others.
inline constexpr char proportional[] = "memtrace.host.pss";
// The highest `resident` ever; once, at the end.
inline constexpr char highest[] = "memtrace.host.peak";

// All processes below it, such as DataLoader workers: how many, and sums of theirs.
inline constexpr char workers[] = "memtrace.host.workers";
inline constexpr char workers_proportional[] = "memtrace.host.workers_pss";
// A page that n of them share counts n times here.
inline constexpr char workers_kept[] = "memtrace.host.workers_kept";
// One of them: its process id, and right after that its proportional memory.
inline constexpr char worker[] = "memtrace.host.worker";
inline constexpr char worker_proportional[] = "memtrace.host.worker_pss";

// The limit that is nearest to being reached, which of limit_source it is, and what counts against
// it now: page cache, which the kernel gives back first, left out.
inline constexpr char limit[] = "memtrace.host.limit";
inline constexpr char limit_used[] = "memtrace.host.limit_used";
inline constexpr char limit_from[] = "memtrace.host.limit_source";

// Device memory in use by anybody, as the driver says: prefix, index of the device, suffix.
inline constexpr char device_prefix[] = "memtrace.device.";
inline constexpr char device_used_suffix[] = ".used";

enum class limit_source : int {
  machine = 0,        // its memory
  cgroup_v2 = 1,      // memory.max
  cgroup_v1 = 2,      // memory.limit_in_bytes
  address_space = 3,  // RLIMIT_AS: all that is mapped counts
  data = 4,           // RLIMIT_DATA: private writable mappings count
};

}  // namespace memtrace::format::host
