// SPDX-License-Identifier: Apache-2.0
//
// The blocks that live now, for exporters that show who held a device at a few moments, which are
// known beforehand.
//
//   held.watch(device, event);                       // in begin()
//   held.happened(…), held.became(…), held.end();    // as they come; `reached` is called in
//   between
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "analyzer/export/formats/sink.h"
#include "analyzer/model/replay/address_map.h"

namespace memtrace::exporting {

// A device's blocks right after an event, ascending serial.
using on_reached_t = std::function<void(const moment&, const std::vector<block>&)>;

class held_blocks {
 public:
  explicit held_blocks(on_reached_t reached) : reached_(std::move(reached)) {}

  void watch(std::uint32_t device, std::uint64_t event) { watched_[device].insert(event); }
  void carried(const block& one) { live_[one.device].insert(one.address) = one; }
  void happened(const allocator_event& event, const block* one, const moment& now);
  void became(const block& one, const moment& now);
  // The trace is read. What was watched and has not come is the last moment.
  void end();

  [[nodiscard]] std::vector<block> living(std::uint32_t device) const;  // ascending serial

 private:
  void reach(std::uint32_t device, std::uint64_t before);

  on_reached_t reached_;
  std::map<std::uint32_t, std::set<std::uint64_t>> watched_;  // events, by device
  std::map<std::uint32_t, replay::address_map<block>> live_;
  std::map<std::uint32_t, moment> latest_;
};

}  // namespace memtrace::exporting
