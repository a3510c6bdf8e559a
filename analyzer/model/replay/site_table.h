// SPDX-License-Identifier: Apache-2.0
//
// Live bytes by call site, now and at the peak, in one pass and O(1) an event.
//
// Copying every site at every new peak would be O(sites). Instead a new peak only advances an
// epoch, and a site saves its value lazily, before its first change after that peak:
//
//   total    ▁▂▅█▅▃▆▇      epoch     0 1 2 3 3 3 3 3      (3: the highest so far)
//   site A   1 1 1 1 0 0 2 2
//                    └ first change since epoch 3 began: at_peak = 1, stamp = 3; then now = 0
//   site B   0 1 1 2 2 2 2 2
//                            never changed since: its at_peak is what it has now
//
// Invariant: stamp == epoch  ⇒ at_peak is the value at the peak
//            stamp <  epoch  ⇒ the value has not changed since the peak
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/trace/reader/ids.h"

namespace memtrace::replay {

// Where memory was asked for: a call stack, or where there is none, a thread.
struct site_id {
  std::uint32_t number = 0;
  bool is_thread = false;
  [[nodiscard]] bool operator==(const site_id&) const = default;
};

[[nodiscard]] inline site_id site_of(trace::stack_id stack, trace::thread_id thread) {
  return stack ? site_id{stack.value, false} : site_id{thread.value, true};
}

struct holding {
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
};

struct site_holding {
  site_id site;
  holding held;
};

class site_table {
 public:
  void add(site_id site, std::uint64_t bytes) {
    auto& held = touch(site);
    held.now.bytes += bytes;
    ++held.now.blocks;
  }
  void remove(site_id site, std::uint64_t bytes) {
    auto& held = touch(site);
    held.now.bytes -= bytes;
    --held.now.blocks;
    ++held.freed;
  }
  // A live block turned out to have another size; `difference` in two's complement.
  void correct(site_id site, std::uint64_t difference) { touch(site).now.bytes += difference; }

  // The present holdings are the new peak.
  void mark_peak() { ++epoch_; }

  // Sites that hold something, unordered.
  [[nodiscard]] std::vector<site_holding> now() const { return collect(false); }
  [[nodiscard]] std::vector<site_holding> at_peak() const { return collect(true); }
  // What has become of the blocks that a stack asked for.
  struct fate {
    trace::stack_id stack;
    std::uint64_t held = 0;   // now
    std::uint64_t freed = 0;  // so far
  };
  [[nodiscard]] std::vector<fate> fates() const {
    std::vector<fate> found;
    for (std::uint32_t i = 1; i < by_stack_.size(); ++i) {
      const auto& one = by_stack_[i];
      if (one.now.blocks + one.freed != 0) {
        found.push_back({trace::stack_id{i}, one.now.blocks, one.freed});
      }
    }
    return found;
  }
  [[nodiscard]] std::size_t size() const { return by_stack_.size() + by_thread_.size(); }

 private:
  struct entry {
    holding now;
    holding at_peak;
    std::uint64_t stamp = 0;
    std::uint64_t freed = 0;  // blocks, so far
  };

  [[nodiscard]] entry& touch(site_id site) {
    auto& table = site.is_thread ? by_thread_ : by_stack_;
    if (site.number >= table.size()) table.resize(site.number + std::size_t{1});
    auto& found = table[site.number];
    if (found.stamp != epoch_) {
      found.at_peak = found.now;
      found.stamp = epoch_;
    }
    return found;
  }

  [[nodiscard]] std::vector<site_holding> collect(bool peak) const {
    std::vector<site_holding> found;
    for (const bool is_thread : {false, true}) {
      const auto& table = is_thread ? by_thread_ : by_stack_;
      for (std::size_t i = 0; i < table.size(); ++i) {
        const bool saved = peak && table[i].stamp == epoch_;
        const auto& held = saved ? table[i].at_peak : table[i].now;
        if (held.blocks == 0) continue;
        found.push_back({{static_cast<std::uint32_t>(i), is_thread}, held});
      }
    }
    return found;
  }

  std::vector<entry> by_stack_;
  std::vector<entry> by_thread_;
  std::uint64_t epoch_ = 0;
};

}  // namespace memtrace::replay
