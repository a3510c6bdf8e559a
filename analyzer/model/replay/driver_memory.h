// SPDX-License-Identifier: Apache-2.0
//
// Memory that the program holds from CUDA itself, from the recorded calls: device memory (of which
// PyTorch's segments are a part; with the cudaMallocAsync backend, all that PyTorch has), by who
// asked for it, and pinned host memory. What the calls do: memtrace/cuda_calls.h.
// A runtime call that makes a driver call inside may be recorded twice with the same address, and
// is counted once.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/model/replay/device_holdings.h"
#include "analyzer/model/replay/physical_memory.h"
#include "analyzer/trace/reader/records.h"
#include "memtrace/cuda_calls.h"

namespace memtrace::replay {

enum class memory_place : std::uint8_t { elsewhere, device, pinned_host };

// Where an API's memory lies; elsewhere for calls that hold none (mapping, address reservation).
[[nodiscard]] memory_place place_of(std::string_view api);

// Pinned memory was got or given back.
struct pinned_change {
  std::uint64_t time_ns = 0;
  std::uint64_t total = 0;      // pinned bytes after it
  std::int64_t difference = 0;  // bytes
  site_id site;                 // that got it
};

// Device memory began or ended to be held.
struct holding_change {
  cuda_holding of;
  bool came = false;
};

class driver_memory {
 public:
  void call(const trace::event& head, std::string_view api, const trace::cuda_call_event& call);
  void undo(const trace::event& head, std::string_view api,
            const trace::cuda_undo_event& failed_release);
  // PyTorch's caching allocator made a segment of memory that a call got, or gave it up.
  void segment(std::uint64_t address, std::uint64_t bytes, bool is_made);
  // What the latest call unmapped was in segments, which have lost it; who holds it has it now.
  void fell_asleep();

  [[nodiscard]] std::uint64_t on_device(std::uint32_t device) const;  // bytes
  // What the latest call or undo changed, in order.
  [[nodiscard]] const std::vector<holding_change>& changes() const { return changes_; }
  // Null where no call got memory on the device.
  [[nodiscard]] const device_holdings* device(std::uint32_t device) const;
  [[nodiscard]] std::uint64_t pinned_peak() const { return pinned_peak_; }
  // In their order; the first million.
  [[nodiscard]] const std::vector<pinned_change>& pinned_changes() const { return pinned_changes_; }

 private:
  // Handles of arrays and modules may be equal to addresses.
  enum class space : std::uint8_t { address, array, module };
  using key = std::pair<space, std::uint64_t>;
  using ended = std::pair<key, cuda_holding>;

  // A release, as long as it may still turn out to have failed.
  struct release {
    format::cuda_effect effect{};
    std::uint64_t address = 0;
    std::uint64_t handle = 0;
    std::vector<ended> holdings;
    std::vector<physical_memory::piece> unmapped;
    physical_memory::object physical;
  };

  void get(const trace::event& head, format::cuda_effect effect,
           const trace::cuda_call_event& call);
  void give_back(const trace::event& head, std::string_view api, format::cuda_effect effect,
                 const trace::cuda_call_event& call);
  void drop_context(const trace::event& head, std::string_view api, std::uint64_t handle,
                    std::vector<ended>& to);
  void add(const key& place, const cuda_holding& held, const trace::event& head);
  void drop(const key& place, const trace::event& head, std::vector<ended>& to);
  template <typename Which>
  void drop_all(const trace::event& head, std::vector<ended>& to, Which which);
  void came(const cuda_holding& held, std::uint64_t address, const trace::event& head);
  void went(const cuda_holding& held, std::uint64_t address, const trace::event& head);
  // Counts a physical object as often as it is there: once or never.
  void settle(physical_object& object, const trace::event& head);
  [[nodiscard]] static held_bytes& owner_in(device_holdings& device, const owner_id& owner);
  static void count_rounding(device_holdings& device, const cuda_holding& held,
                             std::uint64_t address, bool more);
  void set_in_segments(cuda_holding& held, bool is_in);
  void pin(const trace::event& head, const cuda_holding& held, bool releases);

  std::map<key, cuda_holding> held_;
  physical_memory physical_;
  std::vector<holding_change> changes_;
  std::uint64_t made_ = 0;        // that have no address
  std::uint64_t visits_ = 0;      // of holdings, by records that concern many
  std::deque<release> released_;  // the latest few, in case one failed
  std::map<std::uint32_t, device_holdings> devices_;
  std::uint64_t pinned_bytes_ = 0;
  std::uint64_t pinned_peak_ = 0;
  std::vector<pinned_change> pinned_changes_;
};

}  // namespace memtrace::replay
