// SPDX-License-Identifier: Apache-2.0
//
// A device's segments and blocks, so that the end of a snapshot agrees with its events: the viewer
// starts from the segments at the end and undoes one event after the other.
//
// Facts that the recording lacks are filled in where the viewer would stop without them: a block
// outside all known segments gets one of its own (`unrecorded`), and so does one whose free comes
// without its allocation.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/export/formats/snapshot/pickle_file.h"
#include "analyzer/model/replay/address_map.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::exporting {

class heap {
 public:
  struct range {  // a segment, or a part of an expandable one that was mapped at once
    std::uint64_t bytes = 0;
    std::uint64_t stream = 0;
    trace::pool_id pool;
    bool expandable = false;
    bool small = false;
    std::uint64_t event = 0;  // that made it
    std::uint64_t time_ns = 0;
    trace::stack_id stack;
    trace::thread_id thread;  // none: nothing is known
    pickle::memo frames = 0;  // 0: not resolved
  };
  struct block {
    std::uint64_t bytes = 0;
    std::uint64_t requested = 0;
    std::uint64_t stream = 0;
    pickle::memo frames = 0;
    pickle::memo words = 0;  // 0: none
    bool pending = false;    // its free is requested
  };

  void add(std::uint64_t address, const range& made);
  void remove(std::uint64_t address, std::uint64_t bytes);
  // Whether a segment begins there; its size.
  [[nodiscard]] std::uint64_t segment_at(std::uint64_t address) const;

  void allocate(std::uint64_t address, const block& made);
  // Null: none lives there.
  [[nodiscard]] block* find(std::uint64_t address) { return blocks_.find(address); }
  // A free that is requested, or completed, of what had so many bytes.
  block& request_free(std::uint64_t address, std::uint64_t bytes, std::uint64_t stream);
  void complete_free(std::uint64_t address, std::uint64_t bytes, std::uint64_t stream);

  template <class Function>
  void for_each_range(const Function& function) const {
    for (const auto& [address, one] : ranges_) function(address, one);
  }
  // Gives each segment its frames, which are in the pickle only if they are used.
  template <class Frames>
  void resolve(const Frames& frames_of) {
    for (auto& [address, one] : ranges_) {
      if (one.thread) one.frames = frames_of(one.stack, one.thread);
    }
  }

  [[nodiscard]] std::uint64_t active() const { return active_; }  // bytes, pending ones too

  // The segments of the device, as PyTorch's snapshot has them, each a value of `made`.
  void put(std::string& to, list_maker& made, std::uint32_t device) const;

 private:
  struct placed {
    std::uint64_t address = 0;
    block what;
  };
  [[nodiscard]] bool is_in_segment(std::uint64_t address) const;
  void know_place(std::uint64_t address, std::uint64_t bytes, std::uint64_t stream);
  [[nodiscard]] std::map<std::uint64_t, range> whole_segments() const;
  static void put_segment(std::string& to, std::uint32_t device, std::uint64_t address,
                          const range& segment, std::vector<placed>::const_iterator first,
                          std::vector<placed>::const_iterator last);

  std::map<std::uint64_t, range> ranges_;
  std::map<std::uint64_t, range> unrecorded_;
  replay::address_map<block> blocks_;
  std::uint64_t active_ = 0;
};

}  // namespace memtrace::exporting
