// SPDX-License-Identifier: Apache-2.0
//
// A device's events on their way into the pickle: all of them, or the last ones.
//
//   alloc A   alloc B   free A   alloc C   free B  …        as they come
//   ├──────── dropped ─────────┤ ├──── the last ──►
//        └► alloc B stays: it lives when the kept ones begin, and comes first
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>

#include "analyzer/export/formats/snapshot/pickle_file.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::exporting {

class event_list {
 public:
  // `most`: so many stay; 0: all.
  event_list(pickle_file& to, std::size_t most)
      : to_(to), most_(most), stored_(to.define([](std::string& text) { pickle::list(text); })) {}

  void add(format::kind kind, std::uint64_t address, std::string_view event);
  // No more events. Where it is stored. `first`: precedes the last ones, if not all stay.
  [[nodiscard]] pickle::memo finish(std::string_view first);

 private:
  struct kept {
    format::kind kind{};
    std::uint64_t address = 0;
    std::string event;
  };
  void drop_first();
  void write(std::string_view event);
  void write_portion();

  pickle_file& to_;
  std::size_t most_;
  pickle::memo stored_;
  std::string portion_;
  std::size_t in_portion_ = 0;
  std::deque<kept> last_;
  std::uint64_t dropped_ = 0;
  // Dropped allocations, in their order, of blocks that live when the kept ones begin.
  std::map<std::uint64_t, std::string> before_;           // by number
  std::map<std::uint64_t, std::uint64_t> living_before_;  // address → number
};

}  // namespace memtrace::exporting
