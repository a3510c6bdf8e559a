// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/recorder/slot_pair.h"

#include <algorithm>
#include <cerrno>

#include "interpose/ground/base/futex.h"
#include "interpose/ground/recorder/detached_call.h"
#include "interpose/ground/recorder/quiet_thread.h"
#include "interpose/ground/recorder/tick_clock.h"

namespace memtrace {
namespace {

constexpr std::uint64_t millisecond = 1'000'000;
// A disk that answers within this time works, and is waited for as for the compression: events come
// faster than it takes them for a while.
constexpr std::uint64_t usual_answer = 50 * millisecond;
// All events together wait for longer answers only so long: so much at once, and a hundredth of the
// time.
constexpr std::uint64_t most_patience = 100 * millisecond;
constexpr std::uint64_t share_of_time = 100;
// The thread computes for some milliseconds, if it gets a core.
constexpr std::uint64_t patience_with_thread = 2000 * millisecond;
constexpr std::uint64_t patience_at_end = 3000 * millisecond;
constexpr std::uint64_t retry_after = 1000 * millisecond;
constexpr std::uint32_t keep_every_ms = 200;
constexpr std::uint32_t recheck_ms = 10;

// Since when the thread asks the disk; 0 once it has its answer.
class mark {
 public:
  explicit mark(std::atomic<std::uint64_t>& since) noexcept : since_(since) {
    since_.store(monotonic_ns());
  }
  ~mark() { since_.store(0); }
  mark(const mark&) = delete;
  mark& operator=(const mark&) = delete;

 private:
  std::atomic<std::uint64_t>& since_;
};

bool waits_for_disk(const std::atomic<std::uint64_t>& asked_at) noexcept {
  const std::uint64_t since = asked_at.load();
  return since != 0 && monotonic_ns() - since > usual_answer;
}

// Waits once, a little, and takes it off the patience; false when that is used up.
bool wait_a_little(std::atomic<std::uint32_t>& word, std::uint32_t while_equal,
                   std::uint64_t& patience) noexcept {
  if (patience == 0) return false;
  const std::uint64_t before = monotonic_ns();
  futex_wait(word, while_equal, recheck_ms);
  const std::uint64_t passed = monotonic_ns() - before;
  patience -= std::min(passed, patience);
  return patience != 0;
}

}  // namespace

int slot_pair::write_block(unsigned index) noexcept {
  const auto block = writer_.make(slots_[index]);
  int error = ENOMEM;
  if (!block.empty()) {
    const mark asking(asked_at_);
    error = sink_.append(block);
  }
  if (error == 0) slots_[index].reset();
  error_.store(error, std::memory_order_relaxed);
  if (error != 0) retry_at_ns_ = monotonic_ns() + retry_after;
  const auto next = error == 0 ? stage::empty : stage::full;
  stage_of(index).store(static_cast<std::uint32_t>(next), std::memory_order_release);
  futex_wake_all(stage_of(index));
  return error;
}

int slot_pair::make_empty(unsigned index) noexcept {
  auto& word = stage_of(index);
  auto expected = static_cast<std::uint32_t>(stage::full);
  if (!word.compare_exchange_strong(expected, static_cast<std::uint32_t>(stage::writing))) return 0;
  return write_block(index);
}

void slot_pair::earn_patience() noexcept {
  const std::uint64_t now = monotonic_ns();
  const std::uint64_t earned =
      earned_at_ns_ == 0 ? most_patience : (now - earned_at_ns_) / share_of_time;
  patience_ns_ = std::min(patience_ns_ + earned, most_patience);
  earned_at_ns_ = now;
}

int slot_pair::await_empty(unsigned index) noexcept {
  auto& word = stage_of(index);
  std::uint64_t patience = patience_with_thread;
  for (bool is_first = true;; is_first = false) {
    const std::uint32_t now = word.load(std::memory_order_acquire);
    if (now == static_cast<std::uint32_t>(stage::empty)) return 0;
    const int error = error_.load(std::memory_order_relaxed);
    if (now == static_cast<std::uint32_t>(stage::full) && error != 0) return error;
    if (is_first) earn_patience();
    auto& left = waits_for_disk(asked_at_) ? patience_ns_ : patience;
    if (!wait_a_little(word, now, left)) {
      return word.load(std::memory_order_acquire) == static_cast<std::uint32_t>(stage::empty)
                 ? 0
                 : ETIMEDOUT;
    }
  }
}

bool slot_pair::can_advance() const noexcept {
  return stages_[open_ ^ 1u].load(std::memory_order_acquire) ==
             static_cast<std::uint32_t>(stage::empty) ||
         (!thread_runs_ && monotonic_ns() >= retry_at_ns_);
}

int slot_pair::free_other() noexcept {
  const unsigned other = open_ ^ 1u;
  if (thread_runs_) return await_empty(other);
  if (!background_) return make_empty(other);
  if (stage_of(other).load(std::memory_order_acquire) == static_cast<std::uint32_t>(stage::empty)) {
    return 0;
  }
  retry_at_ns_ = monotonic_ns() + retry_after;
  return EAGAIN;
}

int slot_pair::advance() noexcept {
  const unsigned other = open_ ^ 1u;
  if (background_ && !thread_runs_) start_thread();
  if (const int error = free_other(); error != 0) return error;
  stage_of(other).store(static_cast<std::uint32_t>(stage::open), std::memory_order_relaxed);
  stage_of(open_).store(static_cast<std::uint32_t>(stage::full), std::memory_order_release);
  const unsigned filled = open_;
  open_ = other;
  if (thread_runs_) {
    wake_thread();
  } else if (!background_) {
    // An error leaves the slot full; it comes back from the next advance().
    (void)make_empty(filled);
  }
  return 0;
}

int slot_pair::finish(bool is_complete, std::uint64_t blocks, std::uint64_t events) noexcept {
  is_complete_ = is_complete;
  blocks_ = blocks;
  events_ = events;
  if (!thread_runs_) return write_rest();
  stop_.store(true, std::memory_order_release);
  wake_thread();
  std::uint64_t disk = patience_at_end;
  std::uint64_t thread = 10 * patience_with_thread;
  while (ended_.load(std::memory_order_acquire) == 0) {
    if (!wait_a_little(ended_, 0, waits_for_disk(asked_at_) ? disk : thread)) {
      return ETIMEDOUT;
    }
  }
  stop_thread();
  return end_error_;
}

int slot_pair::write_rest() noexcept {
  int error = make_empty(open_ ^ 1u);
  if (error == 0) {
    if (slots_[open_].is_empty()) {
      slots_[open_].reset();
    } else {
      stage_of(open_).store(static_cast<std::uint32_t>(stage::full), std::memory_order_relaxed);
      error = make_empty(open_);
    }
  }
  const mark asking(asked_at_);
  if (error == 0 && is_complete_) error = sink_.complete(blocks_, events_);
  if (error != 0 || !is_complete_) sink_.give_up(error);
  return error;
}

void slot_pair::start_thread() noexcept {
  thread_runs_ = start_quiet_thread(thread_, &run_thread, this);
  std::uint64_t patience = patience_with_thread;
  while (thread_runs_ && taken_.load(std::memory_order_acquire) == untaken) {
    if (!wait_a_little(taken_, untaken, patience)) return;
  }
  if (taken_.load(std::memory_order_relaxed) == taken) sink_.hand_over();
}

void slot_pair::stop_thread() noexcept {
  if (!thread_runs_) return;
  stop_.store(true, std::memory_order_release);
  wake_thread();
  pthread_join(thread_, nullptr);
  thread_runs_ = false;
}

void slot_pair::wake_thread() noexcept {
  work_.fetch_add(1, std::memory_order_release);
  futex_wake_all(work_);
}

void* slot_pair::run_thread(void* self) {
  pthread_setname_np(pthread_self(), "memtrace");
  static_cast<slot_pair*>(self)->serve();
  return nullptr;
}

void slot_pair::write_full() noexcept {
  if (error_.load(std::memory_order_relaxed) != 0 && monotonic_ns() < retry_at_ns_) return;
  for (unsigned index = 0; index < format::slot_count; ++index) (void)make_empty(index);
}

void slot_pair::keep_open() noexcept {
  const mark asking(asked_at_);
  for (unsigned index = 0; index < format::slot_count; ++index) {
    if (stage_of(index).load(std::memory_order_acquire) != static_cast<std::uint32_t>(stage::empty))
      (void)sink_.keep(index);  // what fails now is tried again
  }
}

void slot_pair::serve() noexcept {
  constexpr std::uint32_t patience_ms = 60'000;
  detached_call::allow();
  taken_.store(sink_.take_over() ? taken : shared, std::memory_order_release);
  futex_wake_all(taken_);
  const bool keeps = sink_.is_kept_apart();
  while (!stop_.load(std::memory_order_acquire)) {
    const std::uint32_t seen = work_.load(std::memory_order_acquire);
    write_full();
    if (keeps) keep_open();
    if (stop_.load(std::memory_order_acquire)) break;
    const bool retries = error_.load(std::memory_order_relaxed) != 0;
    futex_wait(work_, seen, keeps || retries ? keep_every_ms : patience_ms);
  }
  end_error_ = write_rest();
  ended_.store(1, std::memory_order_release);
  futex_wake_all(ended_);
}

}  // namespace memtrace
