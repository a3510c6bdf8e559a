// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/allocator/request_edits.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace memtrace::allocator {

namespace {

// Exact, and at least one byte; what would not fit stays as it is (a damaged trace).
[[nodiscard]] std::uint64_t scaled(std::uint64_t size, std::uint32_t numerator,
                                   std::uint32_t denominator) {
  if (numerator == denominator || denominator == 0) return size;
  const auto whole = size / denominator;
  const auto rest = size % denominator;
  if (numerator != 0 && whole > std::numeric_limits<std::uint64_t>::max() / numerator / 2) {
    return size;
  }
  const auto part = (rest * numerator + denominator - 1) / denominator;
  return std::max<std::uint64_t>(1, whole * numerator + part);
}

}  // namespace

void request_edits::scale(block_number block, std::uint32_t numerator, std::uint32_t denominator) {
  changes_.push_back({block, numerator, denominator, end::as_before, 0, 0});
}

void request_edits::drop(block_number block) {
  changes_.push_back({block, 1, 1, end::dropped, 0, 0});
}

void request_edits::free_at(block_number block, std::uint64_t event) {
  changes_.push_back({block, 1, 1, end::moved, event, order_++});
}

void request_edits::keep(block_number block) {
  changes_.push_back({block, 1, 1, end::kept, 0, 0});
}

request_edits::added request_edits::allocate(std::uint64_t event, block_number like,
                                             std::uint32_t numerator, std::uint32_t denominator) {
  new_block made;
  made.like = like;
  made.numerator = numerator;
  made.denominator = denominator;
  made.born = event;
  made.born_order = order_++;
  added_.push_back(made);
  return static_cast<added>(added_.size() - 1);
}

void request_edits::free(added block, std::uint64_t event) {
  auto& made = added_[block];
  made.freed = true;
  made.dies = std::max(event, made.born);
  made.free_order = order_++;
}

// One pass over the log, in which the new requests go in at their places.
class request_edits::application {
 public:
  application(const request_edits& edits, request_log& log) : edits_(edits), log_(log) {}

  void run() {
    const auto old_blocks = log_.blocks();
    look_at_blocks();
    place_new_requests();
    requests_.reserve(log_.requests.size() + places_.size());
    events_.reserve(log_.requests.size() + places_.size());
    for (std::size_t i = 0; i < log_.requests.size(); ++i) {
      emit_up_to(log_.events[i]);
      copy(log_.requests[i], log_.events[i], old_blocks);
    }
    emit_up_to(std::numeric_limits<std::uint64_t>::max());
    log_.requests = std::move(requests_);
    log_.events = std::move(events_);
    log_.answers.reset();
    number_blocks();
  }

 private:
  struct block_state {
    std::uint32_t change = none;  // the last one that says how it ends
    std::uint32_t numerator = 1;
    std::uint32_t denominator = 1;
  };
  struct place {
    std::uint64_t event = 0;
    std::uint32_t order = 0;
    std::uint32_t index = 0;  // of changes_, or of added_
    bool of_new_block = false;
    bool allocates = false;
  };
  static constexpr auto none = std::numeric_limits<std::uint32_t>::max();

  // Blocks that the log does not have (another piece's changes were made to a shorter one) are
  // passed over.
  void look_at_blocks() {
    states_.resize(log_.blocks());
    for (std::uint32_t i = 0; i < edits_.changes_.size(); ++i) {
      const auto& change = edits_.changes_[i];
      if (change.block >= states_.size()) continue;
      auto& state = states_[change.block];
      if (change.ends != end::as_before) {
        const bool dropped =
            state.change != none && edits_.changes_[state.change].ends == end::dropped;
        if (!dropped) state.change = i;
      } else {
        state.numerator *= change.numerator;
        state.denominator *= change.denominator;
      }
    }
  }

  [[nodiscard]] std::uint64_t birth_of(block_number block) const {
    const auto at = log_.allocations[block];
    return at < log_.events.size() ? log_.events[at] : 0;
  }

  // False in a log that ends earlier than the one that the changes were made for.
  [[nodiscard]] bool is_asked_for(block_number block) const {
    return block < states_.size() && log_.allocations[block] < log_.requests.size();
  }

  void place_new_requests() {
    const auto last = log_.events.empty() ? 0 : log_.events.back();
    for (std::uint32_t block = 0; block < states_.size(); ++block) {
      const auto index = states_[block].change;
      if (index == none || edits_.changes_[index].ends != end::moved) continue;
      if (!is_asked_for(block)) continue;
      const auto& change = edits_.changes_[index];
      const auto event = std::max(change.event, birth_of(block) + 1);
      if (event > last) continue;  // lives to the end
      places_.push_back({event, change.order, index, false, false});
    }
    for (std::uint32_t i = 0; i < edits_.added_.size(); ++i) {
      const auto& made = edits_.added_[i];
      if (!is_asked_for(made.like) || made.born > last) continue;
      places_.push_back({made.born, made.born_order, i, true, true});
      if (made.freed && made.dies <= last) {
        places_.push_back({made.dies, made.free_order, i, true, false});
      }
    }
    std::sort(places_.begin(), places_.end(), [](const place& left, const place& right) {
      return std::pair(left.event, left.order) < std::pair(right.event, right.order);
    });
    numbers_.assign(edits_.added_.size(), none);
  }

  void emit_up_to(std::uint64_t event) {
    for (; next_ < places_.size() && places_[next_].event <= event; ++next_) emit(places_[next_]);
  }

  void put(request one, std::uint64_t event) {
    requests_.push_back(one);
    events_.push_back(event);
  }

  [[nodiscard]] request like(block_number block) const {
    request made;
    const auto at = log_.allocations[block];
    if (at < log_.requests.size()) made = log_.requests[at];
    made.block = block;
    return made;
  }

  void emit(const place& where) {
    if (!where.of_new_block) {
      const auto block = edits_.changes_[where.index].block;
      give_back(like(block), where.event);
      return;
    }
    const auto& made = edits_.added_[where.index];
    auto one = like(made.like);
    if (where.allocates) {
      const auto& state = states_[made.like];
      one.size = scaled(scaled(one.size, state.numerator, state.denominator), made.numerator,
                        made.denominator);
      one.block = static_cast<block_number>(added_allocations_.size() + states_.size());
      numbers_[where.index] = one.block;
      added_allocations_.push_back(static_cast<std::uint32_t>(requests_.size()));
      one.set_what(action::allocate);
      put(one, where.event);
    } else if (numbers_[where.index] != none) {
      one.block = numbers_[where.index];
      give_back(one, where.event);
    }
  }

  // By then no other stream uses it: it is usable at once.
  void give_back(request one, std::uint64_t event) {
    one.size = 0;
    one.set_what(action::free);
    put(one, event);
  }

  void copy(request one, std::uint64_t event, std::size_t old_blocks) {
    const bool of_block = one.what() == action::allocate || one.what() == action::free ||
                          one.what() == action::complete;
    if (of_block && one.block < old_blocks) {
      const auto& state = states_[one.block];
      const auto ends = state.change == none ? end::as_before : edits_.changes_[state.change].ends;
      if (ends == end::dropped) return;
      if (one.what() == action::allocate) {
        one.size = scaled(one.size, state.numerator, state.denominator);
        // Nobody looks at the old requests of a block that has been passed.
        moved_allocations_.push_back({one.block, static_cast<std::uint32_t>(requests_.size())});
      } else if (ends != end::as_before) {
        return;
      }
    }
    put(one, event);
  }

  void number_blocks() {
    for (const auto& [block, at] : moved_allocations_) log_.allocations[block] = at;
    for (std::uint32_t block = 0; block < states_.size(); ++block) {
      const auto index = states_[block].change;
      if (index == none || edits_.changes_[index].ends != end::dropped) continue;
      log_.allocations[block] = none;
    }
    log_.allocations.insert(log_.allocations.end(), added_allocations_.begin(),
                            added_allocations_.end());
    // 0 would say that the recorded run was refused it.
    constexpr std::uint64_t not_refused = 1;
    if (!log_.addresses.empty()) log_.addresses.resize(log_.allocations.size(), not_refused);
  }

 private:
  const request_edits& edits_;
  request_log& log_;
  std::vector<block_state> states_;  // by block
  std::vector<place> places_;
  std::size_t next_ = 0;
  std::vector<block_number> numbers_;  // by index in added_
  request_list requests_;
  event_list events_;
  std::vector<std::uint32_t> added_allocations_;  // by block, after the old ones
  std::vector<std::pair<block_number, std::uint32_t>> moved_allocations_;
};

void request_edits::apply(request_log& log) const {
  application(*this, log).run();
}

namespace {

// The requests of a log that is reallocated, from its old ones in their order.
class rebuilding {
 public:
  explicit rebuilding(request_log& log) : log_(log) {
    requests_.reserve(log.requests.size());
    events_.reserve(log.requests.size());
  }
  void add(const request& what, std::uint64_t event) {
    if (what.what() == action::allocate && what.block < log_.allocations.size()) {
      log_.allocations[what.block] = static_cast<std::uint32_t>(requests_.size());
    }
    requests_.push_back(what);
    events_.push_back(event);
  }
  void finish() {
    log_.requests = std::move(requests_);
    log_.events = std::move(events_);
    log_.answers.reset();
  }

 private:
  request_log& log_;
  request_list requests_;
  event_list events_;
};

}  // namespace

void remove_empty_cache(request_log& log) {
  rebuilding made(log);
  for (std::size_t i = 0; i < log.requests.size(); ++i) {
    if (log.requests[i].what() != action::empty_cache) made.add(log.requests[i], log.events[i]);
  }
  made.finish();
}

void add_empty_cache(request_log& log, const std::vector<std::uint64_t>& before) {
  request flush;
  flush.set_what(action::empty_cache);
  rebuilding made(log);
  std::size_t next = 0;
  for (std::size_t i = 0; i < log.requests.size(); ++i) {
    for (; next < before.size() && before[next] <= log.events[i]; ++next) {
      made.add(flush, log.events[i]);
    }
    made.add(log.requests[i], log.events[i]);
  }
  made.finish();
}

}  // namespace memtrace::allocator
