// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/session/session.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "interpose/ground/base/command_line.h"
#include "interpose/ground/base/errno_keeper.h"
#include "interpose/ground/base/notice.h"
#include "interpose/ground/base/own_heap.h"
#include "interpose/ground/base/settings.h"
#include "interpose/ground/base/small_lock.h"
#include "interpose/ground/session/parts.h"

namespace memtrace::session {

constinit std::atomic<recorder*> detail::the_recorder{nullptr};

namespace {

using detail::the_recorder;

enum class stage { loading, untried, awaited, active, impossible };

// An event waits so long for a trace's file, once, under whatever locks its thread holds: events
// that come while the disk still does not answer are only counted.
constexpr std::uint32_t patience_ms = 1000;

std::atomic<stage> the_stage{stage::loading};  // until the library's constructor has run
std::atomic<const char*> event_source{nullptr};
pid_t first_process = 0;  // whose exit status is told; 0: none. A forked child has its handler, too
small_lock start_lock;
clock_pair loaded_at;
// While it is awaited: what makes the file, since when, and how many events have come meanwhile.
file_creation* creation = nullptr;
std::uint64_t awaited_since_ns = 0;
std::atomic<std::uint64_t> missed{0};
constinit std::span<const part> the_parts;

template <typename Moment, typename... Arguments>
void tell_parts(Moment part::*moment, Arguments&... arguments) noexcept {
  for (const part& one : the_parts) {
    if (one.*moment != nullptr) (one.*moment)(arguments...);
  }
}

void in_forked_child() {
  recorder* const parents = the_recorder.exchange(nullptr, std::memory_order_relaxed);
  new (&start_lock) small_lock;
  tell_parts(&part::in_forked_child);
  const bool is_parents_awaited = the_stage.load(std::memory_order_relaxed) == stage::awaited;
  if (parents == nullptr && !is_parents_awaited) return;
  // The parent's objects are left as they are: a thread may have been in the middle of it.
  if (parents != nullptr) parents->abandon();
  creation = nullptr;
  missed.store(0, std::memory_order_relaxed);
  the_stage.store(stage::untried, std::memory_order_relaxed);
}

void say_why_not(int error) noexcept {
  char sentence[512];
  std::snprintf(sentence, sizeof sentence,
                "no trace: cannot create a file in %s (%s); set MEMTRACE_OUTPUT to a directory "
                "that can be written. The program goes on without.",
                settings::output_directory(), std::strerror(error));
  notice::say(sentence);
}

void say_if_mode_is_none() noexcept {
  const char* const given = settings::mode_that_is_none();
  if (given == nullptr) return;
  char sentence[256];
  std::snprintf(sentence, sizeof sentence,
                "MEMTRACE=%.64s is no mode; it is one of minimal, standard, full. Records as "
                "standard.",
                given);
  notice::say(sentence);
}

void say_awaited() noexcept {
  char sentence[512];
  std::snprintf(sentence, sizeof sentence,
                "no trace yet: %s does not answer; events are not recorded, only counted, until it "
                "does, or set MEMTRACE_OUTPUT to another directory",
                settings::output_directory());
  notice::say(sentence);
}

recorder_options options() {
  char command[4096];
  return {.directory = settings::output_directory(),
          .program = std::string(traced_program(read_command_line(command))),
          .say = &notice::say};
}

// Null with an error, or where the file is awaited.
std::unique_ptr<recorder> begin(int& error) {
  const bool is_first = creation == nullptr;
  if (is_first) {
    const recorder_options wanted = options();
    awaited_since_ns = monotonic_ns();
    creation = file_creation::begin({wanted.directory, wanted.program, wanted.shape},
                                    tick_clock::calibrate(loaded_at))
                   .release();
    if (creation == nullptr) throw std::bad_alloc();
  }
  if (!creation->is_done(is_first ? patience_ms : 0)) {
    if (is_first) say_awaited();
    return nullptr;
  }
  const std::unique_ptr<file_creation> done(std::exchange(creation, nullptr));
  auto file = done->take(error);
  if (file == nullptr) return nullptr;
  auto made = recorder::create(std::move(file), options(), done->clock());
  if (made == nullptr) error = ENOMEM;
  return made;
}

recorder* begin_or_await() noexcept {
  int error = 0;
  try {
    if (auto made = begin(error); made != nullptr) return made.release();
  } catch (const std::bad_alloc&) {
    error = ENOMEM;
  }
  if (error == 0) {
    missed.fetch_add(1, std::memory_order_relaxed);
    the_stage.store(stage::awaited, std::memory_order_release);
    return nullptr;
  }
  say_why_not(error);
  the_stage.store(stage::impossible, std::memory_order_relaxed);
  return nullptr;
}

bool may_begin(stage now) noexcept {
  return now == stage::untried || now == stage::awaited;
}

// Whether the parent is the command that named this run (info `run`).
bool was_started_by_memtrace() noexcept {
  const char* const run = std::getenv("MEMTRACE_RUN");
  const char* const dot = run == nullptr ? nullptr : std::strrchr(run, '.');
  return dot != nullptr && std::strtol(dot + 1, nullptr, 10) == ::getppid();
}

// Only glibc's on_exit gives it.
void tell_exit_status(int status, void* /*unused*/) {
  recorder* const current = active();
  if (current == nullptr || ::getpid() != first_process) return;
  char text[16];
  std::snprintf(text, sizeof text, "%d", status & 0xff);  // what a parent is told
  current->info(format::info_key::exit_status, text);
  std::snprintf(text, sizeof text, "%d", static_cast<int>(::getpid()));
  current->info(format::info_key::main_thread, text);
}

// Never destroyed: other threads may record until the process is gone.
recorder* start_slowly() noexcept {
  const lock_holder holder(start_lock);
  if (!may_begin(the_stage.load(std::memory_order_relaxed))) return active();
  recorder* const made = begin_or_await();
  if (made == nullptr) return nullptr;
  say_if_mode_is_none();
  tell_parts(&part::open, *made);
  if (const std::uint64_t events = missed.load(std::memory_order_relaxed); events != 0) {
    made->missed(events, awaited_since_ns);
  }
  if (const char* source = event_source.load(std::memory_order_relaxed); source != nullptr) {
    made->info(format::info_key::event_source, source);
  }
  notice::log("recording to %s", made->path().c_str());
  the_recorder.store(made, std::memory_order_release);
  the_stage.store(stage::active, std::memory_order_release);
  tell_parts(&part::start, *made);
  // Here and not at load: what is registered before main() runs after finish(), which ld.so calls.
  if (first_process == 0 && was_started_by_memtrace()) {
    first_process = ::getpid();
    (void)on_exit(&tell_exit_status, nullptr);
  }
  return made;
}

void group_digits(std::uint64_t number, char (&text)[32]) noexcept {
  char digits[24];
  const int count =
      std::snprintf(digits, sizeof digits, "%llu", static_cast<unsigned long long>(number));
  char* out = text;
  for (int i = 0; i < count; ++i) {
    if (i > 0 && (count - i) % 3 == 0) *out++ = ',';
    *out++ = digits[i];
  }
  *out = '\0';
}

void give_up_awaited() noexcept {
  if (!start_lock.try_lock_for(0)) return;
  if (the_stage.load(std::memory_order_relaxed) == stage::awaited) {
    delete std::exchange(creation, nullptr);
    the_stage.store(stage::impossible, std::memory_order_relaxed);
    say_why_not(ETIMEDOUT);
  }
  start_lock.unlock();
}

void finish() {
  recorder* const current = active();
  if (current == nullptr) return give_up_awaited();
  tell_parts(&part::finish, *current);
  const recording_summary summary = current->finish();
  char events[32];
  char dropped[32];
  group_digits(summary.events, events);
  group_digits(summary.dropped_events, dropped);
  char sentence[900];
  const char* const path = current->path().c_str();
  if (summary.complete && summary.dropped_events != 0) {
    std::snprintf(sentence, sizeof sentence,
                  "recorded %s events in %s, %s events missing (the disk did not take them); next: "
                  "memtrace report %s",
                  events, path, dropped, path);
  } else if (summary.complete) {
    std::snprintf(sentence, sizeof sentence, "recorded %s events in %s; next: memtrace report %s",
                  events, path, path);
  } else {
    std::snprintf(sentence, sizeof sentence,
                  "recorded %s events in %s, incomplete (%s; %s events missing); next: memtrace "
                  "report %s",
                  events, path, summary.error == 0 ? "interrupted" : std::strerror(summary.error),
                  dropped, path);
  }
  notice::say(sentence);
}

}  // namespace

void load(std::span<const part> parts) noexcept {
  const errno_keeper errno_stays;  // a program begins with 0
  settings::read();
  the_stage.store(stage::impossible, std::memory_order_relaxed);
  if (!settings::enabled()) return;
  notice::remember_standard_error();
  loaded_at = tick_clock::sample();
  the_parts = parts;
  // Before anything of the program: so it runs after the program's own exit handlers and the
  // destructors of its static objects, which still free GPU memory.
  if (std::atexit(&finish) != 0) return;
  own_heap::load();
  // Before the program's own handlers: in a child they run after ours, and may use CUDA.
  if (pthread_atfork(nullptr, nullptr, &in_forked_child) != 0) return;
  tell_parts(&part::load);
  the_stage.store(stage::untried, std::memory_order_release);
}

recorder* detail::begin_recording() noexcept {
  return may_begin(the_stage.load(std::memory_order_acquire)) ? start_slowly() : nullptr;
}

void end() noexcept {
  const lock_holder holder(start_lock);
  if (the_stage.load(std::memory_order_relaxed) != stage::active) return;
  finish();
  the_stage.store(stage::impossible, std::memory_order_release);
  the_recorder.store(nullptr, std::memory_order_release);
}

void leave(int status) noexcept {
  tell_exit_status(status, nullptr);
  end();
}

bool is_impossible() noexcept {
  return the_stage.load(std::memory_order_relaxed) == stage::impossible;
}

void tell_event_source(const char* value) noexcept {
  event_source.store(value, std::memory_order_relaxed);
  if (recorder* const current = active(); current != nullptr) {
    current->info(format::info_key::event_source, value);
  }
}

}  // namespace memtrace::session
