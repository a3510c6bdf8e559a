// SPDX-License-Identifier: Apache-2.0
//
// Which private pools of a device CUDA graphs work in, and what was captured there.
//
//   pool_begin      pool_end                          pool_release
//   ────┬───────────────┬─────────────────────────────────┬──────►
//       │    capture    │ a graph works in it: every replay│
//       │               │ needs the memory, block or not   │
//
// torch.cuda.use_mem_pool begins and ends in the same way, but releases what it began as soon as it
// ends. A pool may hold several graphs, and a MemPool that the program made beside them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/trace/reader/records.h"

namespace memtrace::replay {

// The text of an operation that nobody recorded: a snapshot does not say when pools were begun and
// ended, so that what is worked out of its allocations tells nothing of graphs.
inline constexpr std::string_view worked_out = "worked out";

// A capture whose graph outlived it.
struct graph_capture {
  trace::pool_id pool;
  std::uint64_t event = 0;    // its beginning
  std::uint64_t time_ns = 0;  // the same
  std::uint64_t end_event = 0;
  std::uint64_t blocks = 0;  // asked for in it; a graph without any needs no memory
  std::uint64_t added = 0;   // bytes of the segments that its pool got meanwhile
  std::uint64_t most = 0;    // bytes in use in its pool at once, meanwhile
  trace::stack_id stack;     // of the first block asked for in it
  trace::thread_id thread;
};

class graph_pools {
 public:
  // The pool, where it changed whether graphs work in it.
  [[nodiscard]] std::optional<trace::pool_id> on_operation(const trace::event& head,
                                                           const trace::operation_event& record);
  void on_allocator(const trace::event& head, const trace::allocator_event& record);

  // `in_use`: bytes of the pool that it is called with.
  void measure(auto in_use) {
    for (auto& one : open_) one.most = std::max(one.most, in_use(one.pool));
  }
  [[nodiscard]] bool is_capturing() const { return !open_.empty(); }

  [[nodiscard]] bool is_replayed(const trace::pool_id& pool) const;
  [[nodiscard]] std::vector<trace::pool_id> replayed_after(std::uint64_t event) const;
  // Of graphs that outlived their capture, in the order of their ends; the first few thousand.
  [[nodiscard]] const std::vector<graph_capture>& captures() const { return captures_; }
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  struct users {
    std::uint64_t made = 0;    // MemPools of the program, and graphs without memory that hold it
    std::uint64_t graphs = 0;  // captures that have ended and are not released
  };
  // What a thread did to a pool, as long as it has asked the allocator for nothing since.
  struct latest {
    trace::pool_id pool;
    trace::thread_id thread;
    bool is_graph = true;
  };
  struct change {
    std::uint64_t event = 0;
    trace::pool_id pool;
    bool replayed = false;
  };

  [[nodiscard]] users& of(const trace::pool_id& pool) { return users_[{pool.first, pool.second}]; }
  void end(const trace::event& head, const trace::pool_id& pool);
  void release(const trace::event& head, const trace::pool_id& pool);
  void empty(const trace::event& head, const trace::pool_id& pool);

  std::map<std::pair<std::uint64_t, std::uint64_t>, users> users_;
  std::vector<graph_capture> open_;
  std::vector<graph_capture> captures_;
  std::uint64_t count_ = 0;
  std::optional<latest> ended_;
  std::optional<latest> released_;
  std::vector<change> changes_;
};

}  // namespace memtrace::replay
