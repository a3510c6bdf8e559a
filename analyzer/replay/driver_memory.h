// SPDX-License-Identifier: Apache-2.0
//
// Memory that the program holds from CUDA itself, from the recorded calls: device memory (of which
// PyTorch's segments are a part; with the cudaMallocAsync backend, all that PyTorch has) and pinned
// host memory. A runtime call that makes a driver call
// inside is recorded twice with the same address, and counted once.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/replay/site_table.h"
#include "analyzer/trace/records.h"

namespace memtrace::replay {

enum class memory_place : std::uint8_t { elsewhere, device, pinned_host };

// Where an API's memory lies; elsewhere for calls that hold none (mapping, address reservation).
[[nodiscard]] memory_place place_of(std::string_view api);

// Of one device.
struct direct_memory {
  std::uint64_t bytes = 0;
  std::uint64_t peak_bytes = 0;
  trace::event peak;  // when it was first so high
  site_table sites;
};

// Pinned memory was got or given back.
struct pinned_change {
  std::uint64_t time_ns = 0;
  std::uint64_t total = 0;      // pinned bytes after it
  std::int64_t difference = 0;  // bytes
  site_id site;                 // that got it
};

class driver_memory {
 public:
  void call(const trace::event& head, std::string_view api, const trace::cuda_call_event& call);
  void undo(const trace::event& head, std::string_view api,
            const trace::cuda_undo_event& failed_release);

  [[nodiscard]] std::uint64_t on_device(std::uint32_t device) const;  // bytes
  // Null where no call got memory on the device.
  [[nodiscard]] const direct_memory* device(std::uint32_t device) const;
  [[nodiscard]] std::uint64_t pinned_peak() const { return pinned_peak_; }
  // In their order; the first million.
  [[nodiscard]] const std::vector<pinned_change>& pinned_changes() const { return pinned_changes_; }

 private:
  struct holding {
    std::uint64_t bytes = 0;
    std::uint32_t device = 0;
    memory_place place{};
    site_id site;
  };
  // Physical allocations of the VMM calls have a handle and no address.
  using key = std::pair<bool, std::uint64_t>;

  void add(const key& place, const holding& held, const trace::event& head);
  void drop(const key& place, const trace::event& head);
  void pin(const trace::event& head, const holding& held, bool releases);

  std::map<key, holding> held_;
  std::deque<std::pair<key, holding>> released_;  // the latest few, in case a release failed
  std::map<std::uint32_t, direct_memory> devices_;
  std::uint64_t pinned_bytes_ = 0;
  std::uint64_t pinned_peak_ = 0;
  std::vector<pinned_change> pinned_changes_;
};

}  // namespace memtrace::replay
