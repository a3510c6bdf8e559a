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
// The part that the kernel cannot drop: anonymous, shared and swapped-out memory.
inline constexpr char kept[] = "memtrace.host.kept";
// Free in the C library's heap (mallinfo2), at the first look and each time that `kept` has changed
// by 64 MiB since; right after `resident` and `kept`.
inline constexpr char heap_free[] = "memtrace.host.heap_free";
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

// A device's sample: prefix, index of the device, suffix. All of one moment that are known, `used`
// first; of what the trace told before them nothing is missing in them.
inline constexpr char device_prefix[] = "memtrace.device.";
inline constexpr char device_used_suffix[] = ".used";  // by anybody, as the driver says
// As NVML says: by this process, and by all others together. Two of one moment, which is not that
// of a `used` (older traces have them among those of a `used`).
inline constexpr char device_own_suffix[] = ".own";
inline constexpr char device_others_suffix[] = ".others";
// Reserved by this process's stream-ordered pools, used or not; and for graphs' memory nodes.
inline constexpr char device_pools_suffix[] = ".pools";
inline constexpr char device_graphs_suffix[] = ".graphs";
// By difference of free memory: what making this process's contexts took; with what other processes
// have where that is not known yet, or never. (Older traces tell what modules took as the size of
// the calls that load them.)
inline constexpr char device_context_suffix[] = ".context";
inline constexpr char device_others_and_context_suffix[] = ".others_and_context";
// CUPTI only, all so far: time in which a kernel ran, ns; kernels that ran; bytes of unified memory
// that were moved to the device, and away from it; groups of page faults on it.
inline constexpr char device_busy_suffix[] = ".busy";
inline constexpr char device_kernels_suffix[] = ".kernels";
inline constexpr char device_migrated_in_suffix[] = ".migrated_in";
inline constexpr char device_migrated_out_suffix[] = ".migrated_out";
inline constexpr char device_faults_suffix[] = ".faults";

enum class limit_source : int {
  machine = 0,        // its memory
  cgroup_v2 = 1,      // memory.max
  cgroup_v1 = 2,      // memory.limit_in_bytes
  address_space = 3,  // RLIMIT_AS: all that is mapped counts
  data = 4,           // RLIMIT_DATA: private writable mappings count
};

}  // namespace memtrace::format::host
