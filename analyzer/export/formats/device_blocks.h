// SPDX-License-Identifier: Apache-2.0
//
// One device while its trace is told: the blocks that live with what they are after all, and what
// of the device each category holds. Births are numbered as history::fate_collector numbers them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/export/formats/sink.h"
#include "analyzer/model/replay/address_map.h"
#include "analyzer/model/replay/device_replay.h"

namespace memtrace::exporting {

class device_blocks {
 public:
  // Both must outlive it; null: the device has none.
  device_blocks(std::uint32_t device, const history::device_fates* fates,
                const attribution::steps_found* steps)
      : device_(device), fates_(fates), steps_(steps) {}

  // In the order of the trace. Null: nothing lives there.
  [[nodiscard]] const block* find(std::uint64_t address) { return live_.find(address); }
  const block& born(const allocator_event& event, std::uint64_t serial, std::uint64_t least_bytes);
  [[nodiscard]] std::optional<block> died(std::uint64_t address);
  // So many backward passes have ended: the activations that are outputs by now, ascending serial,
  // each with what it was.
  [[nodiscard]] std::vector<std::pair<block, attribution::category>> become(
      std::uint32_t backwards_ended);

  void reported(const trace::report_event& report);
  // After `allocator` saw a record.
  void follow_sleep();

  [[nodiscard]] moment now(std::uint64_t event, std::uint64_t time_ns) const;
  void add_living(std::vector<block>& to) const;

  replay::device_replay allocator;
  moment last;  // the latest that was told
  bool has_last = false;

 private:
  struct later {
    std::uint64_t address = 0;
    std::uint64_t serial = 0;
  };
  [[nodiscard]] std::optional<std::uint64_t> step_of(std::uint64_t event);

  std::uint32_t device_;
  const history::device_fates* fates_;
  const attribution::steps_found* steps_;
  std::size_t step_ = 0;        // that goes on
  std::uint32_t born_ = 0;      // blocks
  std::size_t next_size_ = 0;   // in the fates' lists
  std::size_t next_until_ = 0;  //
  std::uint64_t pending_ = 0;   // of the latest block's size: what the replay learns by its report
  replay::address_map<block> live_;
  std::map<std::uint32_t, std::vector<later>> until_backward_;
  attribution::by_category<std::uint64_t> held_;
  std::uint64_t recorded_ = 0;  // sum of held_
};

}  // namespace memtrace::exporting
