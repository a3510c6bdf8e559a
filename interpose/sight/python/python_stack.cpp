// SPDX-License-Identifier: Apache-2.0
//
//   unknown ─► off                                   no Python, refused, or switched off
//      └─────► unverified ─► on                      the self-check agreed
//                   └──────────┴─► off               it did not, or a frame was not a frame
//
// Unverified stacks are recorded too, with every frame read anew and every object's type checked:
// until the deaths of code objects are seen, an address says nothing about an earlier event.
#include "interpose/sight/python/python_stack.h"

#include <atomic>
#include <cstdlib>
#include <new>

#include "interpose/ground/base/news.h"
#include "interpose/ground/base/thread_end.h"
#include "interpose/sight/python/code_deaths.h"
#include "interpose/sight/python/interpreter.h"
#include "interpose/sight/python/pending_call.h"
#include "interpose/sight/python/thread_stacks.h"

namespace memtrace::python_stack {

constinit std::atomic<module_call> detail::watched_call{};
constinit std::atomic<address> detail::watched_step{0};

namespace {

enum class mode : std::uint8_t { unknown, off, unverified, on };

std::atomic<mode> current{mode::unknown};
std::atomic<const char*> outcome{nullptr};       // once it is known
std::atomic<const char*> pending_news{nullptr};  // what news() has not told yet
std::atomic<std::uint32_t> announced{0};         // generation of the table that it is told to
std::atomic<bool> warning{false};
// Set before the mode leaves unknown.
std::atomic<const interpreter*> found_python{nullptr};
std::atomic<unsigned> depth_limit{max_depth};

struct thread_state {
  thread_stacks* stacks = nullptr;
  bool is_inside = false;  // against a signal handler that allocates
};
thread_local constinit thread_state mine __attribute__((tls_model("initial-exec"))){};

const interpreter& python() noexcept {
  return *found_python.load(std::memory_order_relaxed);
}

void announce(const char* news) noexcept {
  outcome.store(news, std::memory_order_relaxed);
  pending_news.store(news, std::memory_order_release);
  something_is_new();
}

void switch_off(const char* reason, bool warn) noexcept {
  if (current.exchange(mode::off) == mode::off) return;
  warning.store(warn, std::memory_order_relaxed);
  announce(reason);
}

// Another file has begun (in a forked child): it is to have the news as well.
void announce_in(std::uint32_t generation) noexcept {
  announced.store(generation, std::memory_order_relaxed);
  pending_news.store(outcome.load(std::memory_order_relaxed), std::memory_order_release);
}

pending_call::outcome run_self_check(bool helper);
constinit pending_call self_check_call{run_self_check};

pending_call::outcome run_self_check(bool helper) {
  using result_of = pending_call::outcome;
  if (current.load() != mode::unverified) return result_of::done;
  static constinit bool watched = false;  // the GIL is held; a second call comes from the helper
  if (!watched) watch_code_deaths(python().code_type);
  watched = true;
  const verdict result = check_against_interpreter(python());
  if (result == verdict::agrees) {
    mode expected = mode::unverified;
    if (current.compare_exchange_strong(expected, mode::on)) {
      announce("on");
    }
    return result_of::done;
  }
  if (result == verdict::differs) {
    switch_off("they differ from this Python's own", true);
    return result_of::done;
  }
  if (!helper && result == verdict::not_run_and_raised) return result_of::in_helper_and_raised;
  if (!helper) return result_of::in_helper;
  switch_off("the check against this Python could not be run", true);
  return result_of::done;
}

// MEMTRACE_PYTHON_STACKS: absent or not a number leaves the depth as it is.
unsigned depth_from_environment() noexcept {
  const char* const text = std::getenv("MEMTRACE_PYTHON_STACKS");
  if (text == nullptr || *text < '0' || *text > '9') return max_depth;
  const unsigned long depth = std::strtoul(text, nullptr, 10);
  return depth < max_depth ? static_cast<unsigned>(depth) : max_depth;
}

void delete_stacks(void* stacks) {
  mine.stacks = nullptr;
  delete static_cast<thread_stacks*>(stacks);
}
constinit thread_end end_of_stacks{delete_stacks};

// By any number of threads, and again in a child that was forked in the middle of it.
void set_up() noexcept {
  const interpreter* const python = &this_interpreter();
  found_python.store(python, std::memory_order_relaxed);
  const unsigned depth = depth_from_environment();
  depth_limit.store(depth, std::memory_order_relaxed);
  if (depth == 0) {
    switch_off("MEMTRACE_PYTHON_STACKS=0", false);
  } else if (python->refusal != nullptr) {
    switch_off(python->refusal, python->version[0] != '\0');
  } else if (!end_of_stacks.is_possible()) {
    switch_off("no thread-specific storage", true);
  } else {
    mode untried = mode::unknown;
    current.compare_exchange_strong(untried, mode::unverified);
  }
}

captured find_place(address frame, bool verified, stack_table& table) noexcept {
  if (mine.stacks == nullptr) [[unlikely]] {
    auto* const made = new (std::nothrow) thread_stacks;
    if (made == nullptr || !end_of_stacks.set(made)) {
      delete made;
      return {};
    }
    mine.stacks = made;
  }
  const auto answer = mine.stacks->find(
      python(), frame, depth_limit.load(std::memory_order_relaxed), verified, table);
  if (answer.misread) [[unlikely]] {
    switch_off("a frame was not what it should be", true);
  }
  return answer.place;
}

// False where stacks are off; asks for the self-check where it has not run.
bool prepare(mode now) noexcept {
  if (now == mode::unknown) {
    set_up();
    now = current.load(std::memory_order_acquire);
  }
  if (now == mode::unverified) self_check_call.request();
  return now != mode::off;
}

}  // namespace

void watch_module_call(std::uint64_t code, unsigned slot, bool is_cell) noexcept {
  detail::watched_call.store({code, slot, is_cell}, std::memory_order_relaxed);
}

void watch_step_call(std::uint64_t code) noexcept {
  detail::watched_step.store(code, std::memory_order_relaxed);
}

captured capture_place(stack_table& table) noexcept {
  const mode now = current.load(std::memory_order_acquire);
  if (now != mode::on && !prepare(now)) [[unlikely]]
    return {};
  if (!python().may_be_called()) return {};
  const address thread = python().this_thread();
  if (thread == 0) return {};
  const address frame = innermost_frame(*python().offsets, thread);
  if (frame == 0 || mine.is_inside) return {};
  mine.is_inside = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const captured place = find_place(frame, now == mode::on, table);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  mine.is_inside = false;
  return place;
}

stack_id capture(stack_table& table) noexcept {
  return capture_place(table).stack;
}

stacks state() noexcept {
  const mode now = current.load(std::memory_order_acquire);
  if (now == mode::off) return stacks::off;
  return now == mode::on ? stacks::on : stacks::unknown;
}

const char* news(std::uint32_t generation) noexcept {
  if (generation != announced.load(std::memory_order_relaxed)) announce_in(generation);
  if (pending_news.load(std::memory_order_relaxed) == nullptr) [[likely]]
    return nullptr;
  return pending_news.exchange(nullptr, std::memory_order_acquire);
}

bool news_is_warning() noexcept {
  return warning.load(std::memory_order_relaxed);
}

const char* interpreter_version() noexcept {
  return this_interpreter().version;
}

}  // namespace memtrace::python_stack
