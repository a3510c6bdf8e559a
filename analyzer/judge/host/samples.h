// SPDX-License-Identifier: Apache-2.0
//
// The recorder's samples of memory outside of PyTorch's pool (memtrace/host_samples.h), gathered
// while a trace is read, in bounded memory.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/model/replay/replay.h"
#include "analyzer/trace/reader/dictionary.h"
#include "analyzer/trace/reader/records.h"
#include "memtrace/host_samples.h"

namespace memtrace::host {

struct sample {
  std::uint64_t time_ns = 0;  // since the trace was created
  std::uint64_t bytes = 0;
};

// All samples up to 8,192; beyond that every second one, every fourth, …
class sampled_series {
 public:
  void add(sample taken);
  [[nodiscard]] const std::vector<sample>& samples() const { return samples_; }
  [[nodiscard]] std::uint64_t peak() const { return peak_; }  // of all, also those left out
  [[nodiscard]] std::uint64_t last() const { return last_; }

 private:
  std::vector<sample> samples_;
  std::uint64_t peak_ = 0;
  std::uint64_t last_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t stride_ = 1;
};

struct worker_memory {
  std::uint64_t process = 0;  // id
  std::uint64_t peak = 0;     // proportional
};

// The samples of one process and those below it.
struct host_samples {
  sampled_series resident;
  sampled_series kept;
  sampled_series heap_free;  // in the C library's heap; each 64 MiB of `kept`
  sampled_series together;   // proportional: the process and its workers
  sampled_series workers;    // how many
  sampled_series workers_proportional;
  sampled_series workers_kept;
  sampled_series limit_used;
  std::map<std::uint32_t, sampled_series> outside;      // by device: in use, but not PyTorch's pool
  std::map<std::uint32_t, sampled_series> own_outside;  // the same of this process, as NVML says
  std::set<std::uint32_t> shared;  // devices of which other processes got or gave back
  // The part of these whose user is known: by device and device::part_name.
  std::map<std::pair<std::uint32_t, std::string>, sampled_series> by_owner;
  std::optional<std::uint64_t> limit;
  std::optional<format::host::limit_source> limit_from;
  std::uint64_t peak = 0;                            // resident, as the kernel says at the end
  std::map<std::uint64_t, worker_memory> by_worker;  // by process id
};

class host_collector final : public trace::record_visitor {
 public:
  host_collector(const trace::dictionary& names, const replay::replayer& replayed)
      : names_(names), replayed_(replayed) {}

  void on_counter(const trace::event& head, const trace::counter_event& record) override;
  void on_cuda_call(const trace::event& head, const trace::cuda_call_event& call) override;
  [[nodiscard]] const host_samples& found() const { return found_; }

 private:
  // The meaning of a counter's name.
  enum class meaning : std::uint8_t {
    none,
    resident,
    kept,
    heap_free,
    proportional,
    peak,
    workers,
    workers_proportional,
    workers_kept,
    worker,
    worker_proportional,
    limit,
    limit_used,
    limit_from,
    device_used,
    device_own,
    device_context,
    device_others
  };
  struct known_name {
    meaning what = meaning::none;
    std::uint32_t device = 0;
  };

  [[nodiscard]] static known_name understand(std::string_view name);
  void take(const known_name& name, sample taken);
  // What the device's use is beside PyTorch's pool. That and the pool are of two moments: they
  // belong together where the pool is what it was at the sample before, which `before` keeps.
  void take_outside(sampled_series& to, std::uint64_t& before, std::uint32_t device, sample taken);

  const trace::dictionary& names_;
  const replay::replayer& replayed_;
  std::map<std::uint32_t, known_name> known_;  // by text
  host_samples found_;
  std::map<std::pair<std::uint32_t, replay::owner_id>, sample> owners_;  // the latest
  std::uint64_t latest_proportional_ = 0;
  std::uint64_t latest_worker_ = 0;
  // By device: reserved at the latest sample of this kind.
  std::map<std::uint32_t, std::uint64_t> pool_before_;
  std::map<std::uint32_t, std::uint64_t> pool_before_own_;
  std::map<std::uint32_t, std::uint64_t> others_;  // by device: the first that NVML said
};

}  // namespace memtrace::host
