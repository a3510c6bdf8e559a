// SPDX-License-Identifier: Apache-2.0
//
// Gathers a run's history while its trace is read, in memory that does not grow with the number of
// its events:
//
//   history::collector past(names, replayed);
//   wanted.lives = &past;                  // of the attributor, which sees each record first
//   reader.read(observers(attributor, past)); … attributor.finish();
//   run_history found = past.take();
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "analyzer/model/attribution/kept_block.h"
#include "analyzer/model/attribution/life_observer.h"
#include "analyzer/model/history/heaviest.h"
#include "analyzer/model/history/recorded.h"
#include "analyzer/model/replay/address_map.h"
#include "analyzer/model/replay/replay.h"

namespace memtrace::history {

// Numbers for the kinds of blocks that a timeline counts apart: the categories, and beside them the
// places of which it is known only at the end what comes from there.
class kinds_seen {
 public:
  static constexpr std::size_t most_places = 2048;

  // The kind of a block as it was judged when it ended. A guess beyond `most_places` stays what it
  // is.
  [[nodiscard]] std::uint32_t of(const attribution::kept_block& block) {
    const auto category = static_cast<std::uint32_t>(block.found.what);
    if (!block.found.guess) return category;
    const key wanted{block.where, block.found.what};
    const auto known = numbers_.find(wanted);
    if (known != numbers_.end()) return known->second;
    if (places_.size() == most_places) return category;
    const auto number = first_place + static_cast<std::uint32_t>(places_.size());
    places_.push_back(block);
    numbers_.emplace(wanted, number);
    return number;
  }
  // The first block of each, by number from first_place.
  [[nodiscard]] const std::vector<attribution::kept_block>& places() const { return places_; }

  static constexpr auto first_place = static_cast<std::uint32_t>(attribution::category_count);

 private:
  struct key {
    attribution::place_key where;
    attribution::category guess{};
    [[nodiscard]] bool operator==(const key&) const = default;
  };
  struct hasher {
    [[nodiscard]] std::size_t operator()(const key& one) const {
      return attribution::hash_of(one.where) + static_cast<std::size_t>(one.guess);
    }
  };
  std::unordered_map<key, std::uint32_t, hasher> numbers_;
  std::vector<attribution::kept_block> places_;
};

struct limits {
  std::size_t moments = 2000;    // a device
  std::size_t blocks = 300'000;  // a device
  std::size_t bands = 4000;      // a device
  std::size_t marks = 500;       // a kind and device
};

class collector final : public attribution::life_observer, public trace::record_visitor {
 public:
  collector(const trace::dictionary& names, const replay::replayer& replayed, limits most = {})
      : names_(names), replayed_(replayed), most_(most) {}
  collector(const collector&) = delete;
  collector& operator=(const collector&) = delete;

  void before(const trace::event& head) override;
  void born(std::uint32_t device, const attribution::block_life& block) override;
  void slept(std::uint32_t device, const attribution::block_life& block,
             std::uint64_t difference) override;
  [[nodiscard]] bool ended(std::uint32_t device, const attribution::block_life& block,
                           const attribution::life_end& how) override;
  void judged(std::uint32_t device, const attribution::block_life& block,
              const attribution::life_end& how, const attribution::classification& found) override;
  void census(const trace::event& head, const trace::heap_scan_event& record) override;
  void finished(std::uint32_t device, attribution::settled_blocks& blocks) override;

  void on_allocator(const trace::event& head, const trace::allocator_event& record) override;
  void on_operation(const trace::event& head, const trace::operation_event& record) override;
  void on_phase(const trace::event& head, const trace::phase_event& record) override;

  // Once, after the attributor has finished.
  [[nodiscard]] run_history take();

 private:
  struct birth {
    std::uint64_t time_ns = 0;
    std::uint64_t requested = 0;
    std::uint64_t stream = 0;
  };
  // A part of a block's life in which it had so many bytes that were not asleep.
  struct span {
    std::uint64_t since_event = 0;
    std::uint64_t since_ns = 0;
    std::uint64_t bytes = 0;
  };
  struct kept {
    attribution::kept_block what;
    birth at;
    std::uint64_t died_event = never;
    std::uint64_t died_ns = 0;
  };
  struct of_device {
    explicit of_device(const limits& most)
        : line(most.moments), blocks(most.blocks), phases(most.bands) {}
    timeline line;
    kinds_seen kinds;
    replay::address_map<birth> live;
    std::map<std::uint64_t, std::vector<span>> slept;    // by address: of those that ever slept
    heaviest<kept> blocks;                               // by bytes times lifetime
    std::unordered_map<std::uint32_t, left_out> others;  // by stack id
    std::uint64_t recorded = 0;
    // The latest allocation, until the device's totals after it have been looked at.
    bool grown = false;
    moment latest;
    std::uint64_t retries = 0;
    attribution::phase during = attribution::phase::other;
    std::uint64_t during_since = 0;
    bool has_phase = false;
    longest_bands phases;
    std::map<mark::kind, even_marks> marks;
    device_history made;
  };

  [[nodiscard]] of_device& at(std::uint32_t device);
  void settle(std::uint32_t device, of_device& known);
  void add(of_device& known, kept one, const attribution::classification& found);
  void note(of_device& known, mark one);
  static void leave_out(of_device& known, replay::site_id site, std::uint64_t bytes, double weight);
  [[nodiscard]] block shown(const kept& one, attribution::settled_blocks& blocks);
  [[nodiscard]] std::uint32_t node_of(trace::stack_id stack);

  const trace::dictionary& names_;
  const replay::replayer& replayed_;
  limits most_;
  std::uint64_t event_ = 0;  // that is at hand
  std::uint64_t time_ns_ = 0;
  std::map<std::uint32_t, std::unique_ptr<of_device>> devices_;
  std::unordered_map<std::uint32_t, std::uint32_t> nodes_;   // by stack id
  std::unordered_map<std::uint32_t, std::uint32_t> frames_;  // by frame id
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint64_t>> open_;
  run_history made_;
};

}  // namespace memtrace::history
