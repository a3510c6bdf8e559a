// SPDX-License-Identifier: Apache-2.0
//
// A library for ctypes: captures Python stacks as libmemtrace.so does, with a stack table in
// memory that can be asked what an id means.
#include <time.h>

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "interpose/sight/python/python_stack.h"

namespace {

using memtrace::stack_frame;
using memtrace::stack_id;

class table_in_memory final : public memtrace::stack_table {
 public:
  [[nodiscard]] stack_id intern(std::span<const stack_frame> frames) noexcept override {
    std::string text;
    for (const stack_frame& frame : frames) {
      text.append(frame.file).append(1, '\0').append(frame.function).append(1, '\0');
      text.append(std::to_string(frame.line)).append(1, '\0');
    }
    const std::lock_guard guard(mutex_);
    ++interned_;
    const auto id = static_cast<stack_id>(ids_.size() + 1);
    const auto [place, is_new] = ids_.try_emplace(std::move(text), id);
    if (is_new) texts_.push_back(&place->first);
    return place->second;
  }

  [[nodiscard]] const std::string& text_of(stack_id id) {
    static const std::string none;
    const std::lock_guard guard(mutex_);
    return id == 0 ? none : *texts_.at(id - 1);
  }
  [[nodiscard]] unsigned long interned() const { return interned_; }
  void restart() { start_generation(generation() + 1); }

 private:
  std::mutex mutex_;
  std::map<std::string, stack_id> ids_;
  std::vector<const std::string*> texts_;
  unsigned long interned_ = 0;
};

table_in_memory table;

double ns_of(std::chrono::steady_clock::duration span) {
  return std::chrono::duration<double, std::nano>(span).count();
}

double thread_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

}  // namespace

#define PROBE extern "C" __attribute__((visibility("default")))

PROBE unsigned probe_capture() {
  return memtrace::python_stack::capture(table);
}

PROBE void probe_watch_module_call(unsigned long code, unsigned slot, int is_cell) {
  memtrace::python_stack::watch_module_call(code, slot, is_cell != 0);
}

// The innermost and the outermost module of this moment.
PROBE unsigned probe_modules(unsigned long* innermost, unsigned long* outermost) {
  const auto place = memtrace::python_stack::capture_place(table);
  *innermost = place.module;
  *outermost = place.root;
  return place.stack;
}

// "file\0function\0line\0" for each frame, innermost first; the size goes to *size.
PROBE const char* probe_text(unsigned id, unsigned long* size) {
  const std::string& text = table.text_of(id);
  *size = text.size();
  return text.data();
}

PROBE const char* probe_news() {
  return memtrace::python_stack::news(table.generation());
}
PROBE int probe_news_is_warning() {
  return memtrace::python_stack::news_is_warning() ? 1 : 0;
}
PROBE const char* probe_version() {
  return memtrace::python_stack::interpreter_version();
}
PROBE unsigned long probe_interned() {
  return table.interned();
}
PROBE void probe_restart_ids() {
  table.restart();
}

// ns of the thread's own time a capture, of `rounds` with the present stack.
PROBE double probe_cost(unsigned rounds) {
  unsigned sum = 0;
  const double start = thread_ns();
  for (unsigned i = 0; i < rounds; ++i) sum += probe_capture();
  const double end = thread_ns();
  return sum == 0 ? -1 : (end - start) / rounds;
}

// ns of one capture, with the clock's own cost taken off; for stacks that differ from call to call.
PROBE double probe_cost_of_one() {
  const auto start = std::chrono::steady_clock::now();
  const auto between = std::chrono::steady_clock::now();
  const unsigned id = probe_capture();
  const auto end = std::chrono::steady_clock::now();
  return id == 0 ? -1 : ns_of(end - between) - ns_of(between - start);
}
