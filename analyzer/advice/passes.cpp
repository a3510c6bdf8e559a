// SPDX-License-Identifier: Apache-2.0
#include "analyzer/advice/passes.h"

#include <algorithm>

namespace memtrace::advice {

using allocator::block_number;
using attribution::category;
using attribution::phase;

namespace {

enum class place : std::uint8_t { between, forward, backward, evaluation, update };

[[nodiscard]] place place_of(const block_facts& block) {
  if (block.recomputed || block.born_in == phase::backward) return place::backward;
  if (block.born_in == phase::evaluation) return place::evaluation;
  if (block.born_in == phase::forward) {
    return block.evaluation ? place::evaluation : place::forward;
  }
  if (block.born_in == phase::optimizer || block.born_in == phase::zero_grad) return place::update;
  return place::between;
}

class reading {
 public:
  explicit reading(const evidence& of) : of_(of) {}

  [[nodiscard]] run_passes run() {
    found_.of_block.resize(of_.blocks.size(), activity::neither);
    for (block_number block = 0; block < of_.blocks.size(); ++block) look_at(block);
    settle(activity::neither);
    if (in_backward_) {
      found_.training.back().end = end_event(of_);
    } else if (forward_ != 0) {
      found_.unfinished = forward_ - 1;
    }
    return std::move(found_);
  }

 private:
  void look_at(block_number block) {
    const auto event = birth_event(of_, block);
    const auto where = place_of(of_.blocks[block]);
    if (where == place::between) {
      waiting_.push_back(block);
      return;
    }
    if (in_backward_ && where != place::backward) {
      found_.training.back().end = event;
      in_backward_ = false;
      forward_ = 0;
    }
    if (where == place::update) return;
    const auto now = where == place::evaluation ? activity::evaluation : activity::training;
    if (where == place::evaluation) found_.evaluates = true;
    settle(now, event);
    found_.of_block[block] = now;
    if (where == place::forward && forward_ == 0) forward_ = event + 1;
    if (where == place::backward && !in_backward_) {
      in_backward_ = true;
      const auto begin = forward_ == 0 ? event : forward_ - 1;
      found_.training.push_back({begin, event, end_event(of_)});
    }
  }

  // Those between two calls, once it is known which came next.
  void settle(activity next, std::uint64_t event = 0) {
    for (const auto block : waiting_) {
      const bool sees_next = next != activity::neither && death_event(of_, block) > event;
      found_.of_block[block] = sees_next ? next : before_;
    }
    waiting_.clear();
    if (next != activity::neither) before_ = next;
  }

  const evidence& of_;
  run_passes found_;
  std::vector<block_number> waiting_;
  activity before_ = activity::neither;
  bool in_backward_ = false;
  std::uint64_t forward_ = 0;  // event + 1 of the first block of the forward that runs; 0: none
};

}  // namespace

std::optional<std::size_t> run_passes::at(std::uint64_t event) const {
  const auto after = std::upper_bound(
      training.begin(), training.end(), event,
      [](std::uint64_t one, const training_pass& pass) { return one < pass.forward; });
  if (after == training.begin()) return std::nullopt;
  return static_cast<std::size_t>(after - training.begin() - 1);
}

run_passes passes_of(const evidence& of) {
  return reading(of).run();
}

std::uint64_t end_event(const evidence& of) {
  return of.log.events.empty() ? 1 : of.log.events.back() + 1;
}

std::uint64_t birth_event(const evidence& of, block_number block) {
  const auto request = of.log.allocations[block];
  return request < of.log.events.size() ? of.log.events[request] : end_event(of);
}

std::uint64_t death_event(const evidence& of, block_number block) {
  const auto request = of.blocks[block].free_request;
  return request < of.log.events.size() ? of.log.events[request] : end_event(of);
}

std::uint64_t bytes_of(const evidence& of, block_number block) {
  const auto request = of.log.allocations[block];
  return request < of.log.requests.size() ? of.log.requests[request].size : 0;
}

std::vector<block_number> alive_after(const evidence& of, std::uint32_t request) {
  std::vector<block_number> alive;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    if (of.log.allocations[block] <= request && of.blocks[block].free_request > request) {
      alive.push_back(block);
    }
  }
  return alive;
}

}  // namespace memtrace::advice
