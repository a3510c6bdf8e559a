// SPDX-License-Identifier: Apache-2.0
//
// The requests of a program to the caching allocator of one device, apart from how the allocator
// answered: plain values, to be replayed under other options, or rewritten to what a changed
// program would ask for. A request takes 8 bytes, its event 2, its answer 8 where that is kept, and
// an allocation 12 more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/model/allocator/index_iterator.h"
#include "analyzer/model/allocator/request_list.h"
#include "analyzer/model/allocator/settings.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::allocator {

// Numbers of events that hardly ever fall, such as those of requests, in little more than 2 bytes
// each instead of 8: of every few hundred the first is kept, of the others how far they are from
// it. What is too far is kept whole.
class event_list {
 public:
  using const_iterator = index_iterator<event_list, std::uint64_t>;

  event_list() = default;
  event_list(std::initializer_list<std::uint64_t> events) {
    for (const auto event : events) push_back(event);
  }

  [[nodiscard]] bool operator==(const event_list&) const = default;
  [[nodiscard]] std::size_t size() const { return distances_.size(); }
  [[nodiscard]] bool empty() const { return distances_.empty(); }
  [[nodiscard]] std::uint64_t operator[](std::size_t index) const {
    const auto distance = distances_[index];
    if (distance == too_far) [[unlikely]]
      return far_.at(index);
    return firsts_[index / together] + distance;
  }
  [[nodiscard]] std::uint64_t back() const { return (*this)[size() - 1]; }
  [[nodiscard]] const_iterator begin() const { return {*this, 0}; }
  [[nodiscard]] const_iterator end() const { return {*this, size()}; }

  void reserve(std::size_t count) { distances_.reserve(count); }
  void push_back(std::uint64_t event) {
    const auto index = size();
    if (index % together == 0) firsts_.push_back(event);
    const auto distance = event - firsts_.back();  // very large where it fell
    if (distance < too_far) [[likely]] {
      distances_.push_back(static_cast<std::uint16_t>(distance));
    } else {
      far_.emplace_hint(far_.end(), index, event);
      distances_.push_back(too_far);
    }
  }
  // The first `count` of them stay, which must not be more than there are.
  void shorten(std::size_t count) {
    distances_.resize(count);
    firsts_.resize((count + together - 1) / together);
    far_.erase(far_.lower_bound(count), far_.end());
  }

 private:
  static constexpr std::size_t together = 256;
  static constexpr std::uint16_t too_far = 0xffff;

  std::vector<std::uint16_t> distances_;
  std::vector<std::uint64_t> firsts_;
  std::map<std::size_t, std::uint64_t> far_;
};

// The answers of the recorded allocator, to compare with: see exactness.h.
struct recorded_answers;

struct request_log {
  std::uint32_t device = 0;
  std::string torch_version;
  std::string settings_text;  // at the first request
  settings options;           // the same, parsed
  // The device's: the base of the memory fraction and of address spaces. 0: not recorded.
  std::uint64_t total_bytes = 0;
  // The most that the driver would give the allocator: total less what is outside of it. 0: not
  // recorded.
  std::uint64_t usable_bytes = 0;

  request_list requests;
  event_list events;  // by request: number of the trace's event that told of it
  std::vector<std::uint64_t> streams;
  std::vector<trace::pool_id> pools;          // the first is the default pool
  std::vector<std::string> texts;             // of settings
  std::vector<std::uint32_t> allocations;     // by block: its request
  std::vector<std::uint64_t> addresses;       // by block, as recorded; 0: refused
  std::vector<std::uint64_t> refused_events;  // events of recorded out-of-memory errors
  // Why a replay of it cannot be exact (events dropped, recording began late, another allocator, a
  // version without a tracker): one sentence each; empty where it can.
  std::vector<std::string> doubts;

  // Empty after a rewriting: what was answered to other requests tells nothing.
  std::shared_ptr<const recorded_answers> answers;

  [[nodiscard]] std::size_t blocks() const { return allocations.size(); }
};

}  // namespace memtrace::allocator
