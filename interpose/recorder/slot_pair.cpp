// SPDX-License-Identifier: Apache-2.0
#include "interpose/recorder/slot_pair.h"

#include <signal.h>

#include "interpose/base/futex.h"

namespace memtrace {
namespace {

// zstd keeps its tables on the heap; this is for its frames and ours.
constexpr std::size_t thread_stack_bytes = 128 << 10;
constexpr std::uint32_t recheck_ms = 100;

}  // namespace

int slot_pair::write_block(unsigned index) noexcept {
  const int error = writer_.write(slots_[index]);
  if (error == 0) slots_[index].reset();
  const auto next = error == 0 ? stage::empty : stage::full;
  stage_of(index).store(static_cast<std::uint32_t>(next), std::memory_order_release);
  futex_wake_all(stage_of(index));
  return error;
}

int slot_pair::make_empty(unsigned index) noexcept {
  auto& word = stage_of(index);
  for (;;) {
    std::uint32_t now = word.load(std::memory_order_acquire);
    switch (static_cast<stage>(now)) {
      case stage::empty:
        return 0;
      case stage::full:
        if (word.compare_exchange_strong(now, static_cast<std::uint32_t>(stage::writing))) {
          return write_block(index);
        }
        break;
      default:
        futex_wait(word, now, recheck_ms);
    }
  }
}

int slot_pair::advance() noexcept {
  const unsigned other = open_ ^ 1u;
  if (const int error = make_empty(other); error != 0) return error;
  stage_of(other).store(static_cast<std::uint32_t>(stage::open), std::memory_order_relaxed);
  stage_of(open_).store(static_cast<std::uint32_t>(stage::full), std::memory_order_release);
  const unsigned filled = open_;
  open_ = other;
  if (background_ && !thread_runs_) start_thread();
  if (thread_runs_) {
    wake_thread();
  } else {
    // An error leaves the slot full; it comes back from the next advance().
    (void)make_empty(filled);
  }
  return 0;
}

int slot_pair::finish() noexcept {
  stop_thread();
  if (const int error = make_empty(open_ ^ 1u); error != 0) return error;
  if (slots_[open_].is_empty()) {
    slots_[open_].reset();
    return 0;
  }
  stage_of(open_).store(static_cast<std::uint32_t>(stage::full), std::memory_order_relaxed);
  return make_empty(open_);
}

void slot_pair::start_thread() noexcept {
  background_ = false;  // tried once
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return;
  pthread_attr_setstacksize(&attributes, thread_stack_bytes);
  // The program's signals are for the program's threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_runs_ = pthread_create(&thread_, &attributes, &run_thread, this) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
}

void slot_pair::stop_thread() noexcept {
  if (!thread_runs_) return;
  stop_.store(true, std::memory_order_relaxed);
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

void slot_pair::serve() noexcept {
  constexpr std::uint32_t patience_ms = 60'000;
  while (!stop_.load(std::memory_order_relaxed)) {
    const std::uint32_t seen = work_.load(std::memory_order_acquire);
    for (unsigned index = 0; index < format::slot_count; ++index) {
      auto expected = static_cast<std::uint32_t>(stage::full);
      if (stage_of(index).compare_exchange_strong(expected,
                                                  static_cast<std::uint32_t>(stage::writing))) {
        (void)write_block(index);
      }
    }
    if (!stop_.load(std::memory_order_relaxed)) futex_wait(work_, seen, patience_ms);
  }
}

}  // namespace memtrace
