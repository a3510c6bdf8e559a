// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/replay/graph_pools.h"

#include <algorithm>

namespace memtrace::replay {

namespace {

constexpr std::size_t most_captures = 4096;

}  // namespace

std::optional<trace::pool_id> graph_pools::on_operation(const trace::event& head,
                                                        const trace::operation_event& record) {
  const trace::pool_id pool{record.a, record.b};
  if (!pool.is_private() || record.text == worked_out) return std::nullopt;
  const bool before = is_replayed(pool);
  switch (static_cast<format::operation>(record.operation)) {
    case format::operation::pool_create:
      ++of(pool).made;
      break;
    case format::operation::pool_begin:
      open_.push_back({pool, head.number, head.time_ns, 0, 0, 0, 0, {}, {}});
      break;
    case format::operation::pool_end:
      end(head, pool);
      break;
    case format::operation::pool_release:
      release(head, pool);
      break;
    case format::operation::empty_cache_begin:
      empty(head, pool);
      break;
    default:
      return std::nullopt;
  }
  const bool now = is_replayed(pool);
  if (now == before) return std::nullopt;
  changes_.push_back({head.number, pool, now});
  return pool;
}

void graph_pools::end(const trace::event& head, const trace::pool_id& pool) {
  const auto found = std::find_if(open_.rbegin(), open_.rend(),
                                  [&](const graph_capture& one) { return one.pool == pool; });
  if (found == open_.rend()) return;
  found->end_event = head.number;
  // Compiled code captures an empty graph for no other reason than to hold the pool.
  const bool is_graph = found->blocks != 0;
  if (is_graph && captures_.size() < most_captures) captures_.push_back(*found);
  open_.erase(std::next(found).base());
  if (is_graph) ++count_;
  ++(is_graph ? of(pool).graphs : of(pool).made);
  ended_ = {pool, head.thread, is_graph};
}

void graph_pools::release(const trace::event& head, const trace::pool_id& pool) {
  auto& known = of(pool);
  if (ended_ && ended_->pool == pool && ended_->thread == head.thread) {
    // That was no graph: torch.cuda.use_mem_pool, or one that nobody kept.
    --(ended_->is_graph ? known.graphs : known.made);
    if (ended_->is_graph) {
      if (captures_.size() == count_) captures_.pop_back();
      --count_;
    }
    ended_.reset();
    return;
  }
  if (known.graphs == 0) {
    if (known.made != 0) --known.made;
    return;
  }
  --known.graphs;
  released_ = {pool, head.thread, true};
}

// A MemPool that goes empties its pool as soon as it has released it; a graph does not.
void graph_pools::empty(const trace::event& head, const trace::pool_id& pool) {
  auto& known = of(pool);
  if (!released_ || released_->pool != pool || released_->thread != head.thread) return;
  released_.reset();
  if (known.made == 0) return;
  --known.made;
  ++known.graphs;
}

void graph_pools::on_allocator(const trace::event& head, const trace::allocator_event& record) {
  if (ended_ && ended_->thread == head.thread) ended_.reset();
  if (released_ && released_->thread == head.thread) released_.reset();
  for (auto& one : open_) {
    if (one.pool != record.pool) continue;
    if (record.kind == format::kind::segment_alloc || record.kind == format::kind::segment_map) {
      one.added += record.size;
    }
    if (record.kind == format::kind::alloc && one.blocks++ == 0) {
      one.stack = record.stack;
      one.thread = head.thread;
    }
  }
}

bool graph_pools::is_replayed(const trace::pool_id& pool) const {
  const auto found = users_.find({pool.first, pool.second});
  return found != users_.end() && found->second.graphs != 0;
}

std::vector<trace::pool_id> graph_pools::replayed_after(std::uint64_t event) const {
  std::vector<trace::pool_id> found;
  for (const auto& one : changes_) {
    if (one.event > event) break;
    if (one.replayed) {
      found.push_back(one.pool);
    } else {
      std::erase(found, one.pool);
    }
  }
  return found;
}

}  // namespace memtrace::replay
