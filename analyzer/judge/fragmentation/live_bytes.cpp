// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/fragmentation/live_bytes.h"

#include <algorithm>

#include "analyzer/model/allocator/settings.h"
#include "analyzer/model/replay/graph_pools.h"

namespace memtrace::fragmentation {

namespace {

using allocator::action;
using allocator::request;
using allocator::request_log;

enum class stage : std::uint8_t { unborn, live, pending, dead };

// What replays need of their pools beyond what is live there.
class graph_needs {
 public:
  graph_needs(const request_log& log, const replay::graph_pools* graphs)
      : log_(log), graphs_(graphs), pools_(log.pools.size()) {}

  struct bytes {
    std::uint64_t live = 0;
    std::uint64_t active = 0;
  };

  // The differences wrap around where bytes are given back.
  void change(std::size_t pool, std::uint64_t live, std::uint64_t active) {
    if (graphs_ == nullptr || pool == 0 || pool >= pools_.size()) return;
    auto& one = pools_[pool];
    uncount(one);
    one.now.live += live;
    one.now.active += active;
    if (one.captured) one.most = std::max(one.most, one.now.live);
    count(one);
  }

  // Beginning, end or release of a pool's use.
  void use(std::uint32_t request, std::size_t pool) {
    if (graphs_ == nullptr || pool == 0 || pool >= pools_.size()) return;
    const auto event = log_.events[request];
    auto& one = pools_[pool];
    uncount(one);
    const bool captured = std::ranges::any_of(graphs_->captures(), [&](const auto& capture) {
      return capture.pool == log_.pools[pool] && capture.event <= event &&
             event < capture.end_event;
    });
    if (captured && !one.captured && !one.replayed) one.most = 0;
    one.captured = captured;
    one.replayed = replayed_in(log_, *graphs_, request)[pool];
    count(one);
  }
  [[nodiscard]] const bytes& more() const { return more_; }

 private:
  struct needs {
    bytes now;
    std::uint64_t most = 0;  // live at once during a capture
    bool captured = false;
    bool replayed = false;
  };
  [[nodiscard]] static bytes beyond(const needs& one) {
    if (!one.replayed) return {};
    return {one.most - std::min(one.most, one.now.live),
            one.most - std::min(one.most, one.now.active)};
  }
  void count(const needs& one) {
    more_.live += beyond(one).live;
    more_.active += beyond(one).active;
  }
  void uncount(const needs& one) {
    more_.live -= beyond(one).live;
    more_.active -= beyond(one).active;
  }

  const request_log& log_;
  const replay::graph_pools* graphs_;
  std::vector<needs> pools_;  // as request_log::pools
  bytes more_;
};

class counter {
 public:
  counter(const request_log& log, const replay::graph_pools* graphs)
      : log_(log),
        graphs_(log, graphs),
        stages_(log.blocks(), stage::unborn),
        completes_(log.blocks(), false) {
    found.freed.assign(log.blocks(), never);
    for (const auto& one : log.requests) {
      if (one.what() == action::complete && one.block < completes_.size()) {
        completes_[one.block] = true;
      }
    }
  }

  void take(std::uint32_t index) {
    const auto& one = log_.requests[index];
    if (one.what() == action::pool_begin || one.what() == action::pool_end ||
        one.what() == action::pool_release || one.what() == action::empty_cache) {
      graphs_.use(index, one.pool);
      return observe();
    }
    if (one.block >= stages_.size()) return;
    switch (one.what()) {
      case action::allocate:
        allocate(one);
        break;
      case action::free:
        give_back(one, index);
        break;
      case action::complete:
        if (stages_[one.block] == stage::pending) end(one.block);
        break;
      default:
        break;
    }
  }
  [[nodiscard]] std::uint64_t active() const { return active_; }

  live_bytes found;

 private:
  [[nodiscard]] std::uint64_t bytes_of(allocator::block_number block) const {
    return least_block(log_.requests[log_.allocations[block]].size);
  }
  [[nodiscard]] std::size_t pool_of(allocator::block_number block) const {
    return log_.requests[log_.allocations[block]].pool;
  }
  void observe() {
    found.most = std::max(found.most, live_ + graphs_.more().live);
    found.most_active = std::max(found.most_active, active_ + graphs_.more().active);
  }
  void allocate(const request& one) {
    const bool refused = one.block < log_.addresses.size() && log_.addresses[one.block] == 0;
    if (refused || stages_[one.block] != stage::unborn) return;
    stages_[one.block] = stage::live;
    const auto bytes = least_block(one.size);
    live_ += bytes;
    active_ += bytes;
    graphs_.change(one.pool, bytes, bytes);
    observe();
    found.most_blocks = std::max(found.most_blocks, ++blocks_);
  }
  void give_back(const request& one, std::uint32_t index) {
    if (stages_[one.block] != stage::live) return;
    live_ -= bytes_of(one.block);
    graphs_.change(pool_of(one.block), ~bytes_of(one.block) + 1, 0);
    found.freed[one.block] = index;
    if (completes_[one.block]) {
      stages_[one.block] = stage::pending;
    } else {
      end(one.block);
    }
  }
  void end(allocator::block_number block) {
    active_ -= bytes_of(block);
    graphs_.change(pool_of(block), 0, ~bytes_of(block) + 1);
    --blocks_;
    stages_[block] = stage::dead;
  }

  const request_log& log_;
  graph_needs graphs_;
  std::vector<stage> stages_;
  std::vector<bool> completes_;
  std::uint64_t live_ = 0;
  std::uint64_t active_ = 0;
  std::size_t blocks_ = 0;
};

}  // namespace

std::uint64_t least_block(std::uint64_t requested) {
  constexpr auto unit = allocator::min_block_size;
  if (requested > allocator::unlimited - unit) return allocator::unlimited / unit * unit;
  return std::max(unit, (requested + unit - 1) / unit * unit);
}

std::vector<bool> replayed_in(const request_log& log, const replay::graph_pools& graphs,
                              std::uint32_t request) {
  std::vector<bool> found(log.pools.size());
  for (const auto& pool : graphs.replayed_after(log.events[request])) {
    const auto known = std::ranges::find(log.pools, pool);
    if (known != log.pools.end()) found[static_cast<std::size_t>(known - log.pools.begin())] = true;
  }
  return found;
}

live_bytes measure_live_bytes(const request_log& log, std::size_t windows,
                              const replay::graph_pools* graphs) {
  counter count(log, graphs);
  const auto requests = static_cast<std::uint32_t>(log.requests.size());
  const auto parts = std::min<std::size_t>(windows, requests);
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < parts; ++i) {
    const auto end = static_cast<std::uint32_t>(std::uint64_t{requests} * (i + 1) / parts);
    std::uint32_t fullest = next;
    std::uint64_t most = 0;
    for (; next < end; ++next) {
      count.take(next);
      if (count.active() <= most) continue;
      most = count.active();
      fullest = next;
    }
    count.found.fullest.push_back(fullest);
  }
  return std::move(count.found);
}

}  // namespace memtrace::fragmentation
