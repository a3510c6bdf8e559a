// SPDX-License-Identifier: Apache-2.0
//
// The kind that each block of a run had after all, in a few bytes a block, so that a second pass
// over the trace can tell it at the block's birth:
//
//   history::fate_collector lives(names);
//   wanted.lives = &lives;                      // of the attributor
//   reader.read(attributor); … attributor.finish();
//   run_fates found = lives.take();
//   found.devices[device].of(0)            // what the block was that was born first there
//
// Blocks that are alike share one entry, and training makes alike blocks again and again.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/model/attribution/kept_block.h"
#include "analyzer/model/attribution/life_observer.h"
#include "analyzer/model/attribution/result.h"
#include "analyzer/model/replay/address_map.h"

namespace memtrace::history {

// Ids are of the trace's dictionary, in whichever pass it was read.
struct fate {
  attribution::category what = attribution::category::unknown;
  attribution::evidence how = attribution::evidence::unknown;
  attribution::phase born_in = attribution::phase::other;
  bool recomputed = false;   // born in backward, by checkpointing
  std::string_view rule;     // a constant
  std::uint32_t module = 0;  // row of device_fates::modules; 0: none
  trace::text_id name;       // as block_group::name has it
  trace::text_id detail;
  trace::stack_id forward;  // made in backward: the forward call whose gradient it was made for
  trace::text_id node;      // made in backward: the autograd node
};

// Blocks are numbered by their births on the device, from 0.
struct device_fates {
  std::vector<std::uint32_t> kinds;              // of each block
  std::vector<fate> made;                        // by kind
  std::vector<attribution::module_row> modules;  // of which only the names are filled in
  // Those whose size is not the rounded request: the difference, in two's complement.
  std::vector<std::pair<std::uint32_t, std::uint64_t>> sizes;
  // Activations that are outputs once more backward passes than this have ended (at_moment()).
  std::vector<std::pair<std::uint32_t, std::uint32_t>> until_backward;

  [[nodiscard]] const fate& of(std::uint32_t block) const { return made[kinds[block]]; }
};

struct run_fates {
  std::map<std::uint32_t, device_fates> devices;
  // From this event on so many backward passes have ended.
  std::vector<std::pair<std::uint64_t, std::uint32_t>> backwards_ended;
};

class fate_collector final : public attribution::life_observer {
 public:
  void before(const trace::event& head) override { event_ = head.number; }
  void born(std::uint32_t device, const attribution::block_life& block) override;
  void resized(std::uint32_t device, const attribution::block_life& block,
               std::uint64_t difference) override;
  [[nodiscard]] bool ended(std::uint32_t, const attribution::block_life&,
                           const attribution::life_end&) override {
    return true;
  }
  void judged(std::uint32_t device, const attribution::block_life& block,
              const attribution::life_end& how, const attribution::classification& found) override;
  void phase_changed(const trace::event& head, const trace::phase_event& record) override;
  void finished(std::uint32_t device, attribution::settled_blocks& blocks) override;

  // Once, after the attributor has finished.
  [[nodiscard]] run_fates take() { return std::move(made_); }

 private:
  struct hasher {
    [[nodiscard]] std::size_t operator()(const attribution::kept_block& one) const;
  };
  struct alike {
    [[nodiscard]] bool operator()(const attribution::kept_block& one,
                                  const attribution::kept_block& other) const;
  };
  struct of_device {
    replay::address_map<std::uint32_t> live;  // numbers
    // Without what differs from one block to the next.
    std::unordered_map<attribution::kept_block, std::uint32_t, hasher, alike> kinds;
    std::vector<const attribution::kept_block*> by_kind;
  };

  void passed(std::uint64_t event, std::uint32_t backwards_ended);

  std::uint64_t event_ = 0;         // that is at hand
  std::uint64_t backward_end_ = 0;  // event: the latest
  std::map<std::uint32_t, of_device> devices_;
  run_fates made_;
};

}  // namespace memtrace::history
