// SPDX-License-Identifier: Apache-2.0
//
// The life of a recording: beginning, slots, definitions, end. The events are in
// recorder_events.cpp.
#include "interpose/ground/recorder/recorder.h"

#include <sys/prctl.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

#include "interpose/ground/recorder/recorder_scope.h"
#include "interpose/ground/recorder/told_storages.h"

namespace memtrace {

recorder::recorder(std::uint64_t serial, std::unique_ptr<trace_file> file,
                   const recorder_options& options, const tick_clock& clock) noexcept
    : stack_table(static_cast<std::uint32_t>(serial)),
      clock_(clock),
      file_(std::move(file)),
      slots_(file_->slot_at(0), file_->slot_at(1), *file_, options.background),
      serial_(serial),
      say_(options.say) {
  the_told_storages.clear();
  open_slot();
  slots_.start();
}

std::unique_ptr<recorder> recorder::create(const recorder_options& options, const tick_clock& clock,
                                           int& error) {
  const auto creation =
      file_creation::begin({options.directory, options.program, options.shape}, clock);
  error = ENOMEM;
  if (creation == nullptr) return nullptr;
  while (!creation->is_done(1000)) {
  }
  auto file = creation->take(error);
  return file == nullptr ? nullptr : create(std::move(file), options, clock);
}

std::unique_ptr<recorder> recorder::create(std::unique_ptr<trace_file> file,
                                           const recorder_options& options,
                                           const tick_clock& clock) noexcept {
  return std::unique_ptr<recorder>(new (std::nothrow)
                                       recorder(next_serial(), std::move(file), options, clock));
}

std::uint64_t recorder::next_serial() noexcept {
  static constinit std::atomic<std::uint64_t> latest{0};
  return latest.fetch_add(1, std::memory_order_relaxed) + 1;
}

void recorder::open_slot() noexcept {
  context_ = {};
  context_.ticks = clock_.ticks();
  slots_.current().open(++sequence_, context_.ticks, monotonic_ns(), events_);
}

bool recorder::make_room(std::size_t record_bytes) noexcept {
  if (state_ != state::recording && !end_gap()) [[unlikely]]
    return false;
  constexpr std::uint32_t time_bytes = 2 * encoding::max_varint_bytes;
  if (slots_.current().has_room(static_cast<std::uint32_t>(record_bytes), time_bytes)) return true;
  if (const int error = slots_.advance(); error != 0) {
    begin_gap(error);
    return false;
  }
  open_slot();
  return true;
}

void recorder::stop(int error) noexcept {
  state_ = state::stopped;
  error_ = error;
  file_->stop(error);
  if (say_ == nullptr) return;
  char sentence[512];
  std::snprintf(sentence, sizeof sentence,
                "recording stopped (%s): %s keeps what came before, later events are only "
                "counted; make room, or set MEMTRACE_OUTPUT to another directory",
                std::strerror(error), file_->path().c_str());
  say_(sentence);
}

std::uint32_t recorder::define_text(std::string_view text) {
  text = encoding::bounded(text);
  // First: what is in the dictionary has its record in the file.
  if (!make_room(text.size() + small_record_bytes)) return 0;
  const dictionary_id found = dictionary_.text(text);
  if (found.is_new) {
    unsigned char* at = slots_.current().record_end();
    *at++ = encoding::make_tag(format::kind::text, 0);
    at = encoding::put_text(at, text);
    slots_.current().commit(at, slots_.current().time_end());
  }
  return found.id;
}

std::uint32_t recorder::define_thread() noexcept {
  char name[16] = {};
  prctl(PR_GET_NAME, name);
  const auto system_id = static_cast<std::uint64_t>(syscall(SYS_gettid));
  std::uint32_t text = 0;
  try {
    text = define_text(name);
  } catch (const std::bad_alloc&) {
    // A thread without a name is still a thread.
  }
  if (!make_room(small_record_bytes)) return 0;
  unsigned char* at = slots_.current().record_end();
  *at++ = encoding::make_tag(format::kind::thread, 0);
  at = encoding::put_varint(at, system_id);
  at = encoding::put_varint(at, text);
  slots_.current().commit(at, slots_.current().time_end());
  scope::remember_thread({serial_, ++threads_});
  return threads_;
}

stack_id recorder::intern(std::span<const stack_frame> innermost_first) noexcept {
  return intern_on(0, innermost_first);
}

stack_id recorder::intern_on(stack_id outer,
                             std::span<const stack_frame> innermost_first) noexcept {
  scope section(*this);
  stack_id stack = outer;
  try {
    for (auto frame = innermost_first.rbegin(); frame != innermost_first.rend(); ++frame) {
      if (!section.begin(small_record_bytes)) return 0;
      const std::uint32_t file = define_text(frame->file);
      const std::uint32_t function = define_text(frame->function);
      const dictionary_id call = dictionary_.frame(file, function, frame->line);
      if (!section.begin(small_record_bytes)) return 0;
      if (call.is_new) {
        section.tag(format::kind::frame);
        section.value(file);
        section.value(function);
        section.value(frame->line);
        sources_.meet(file, frame->file);
      }
      const dictionary_id next = dictionary_.stack(stack, call.id);
      if (next.is_new) {
        section.tag(format::kind::stack);
        section.value(stack);
        section.value(call.id);
      }
      section.commit();
      stack = next.id;
    }
  } catch (const std::bad_alloc&) {
    stop(ENOMEM);
    return 0;
  }
  return stack;
}

recording_summary recorder::finish() noexcept {
  // A thread that was killed, or that called exit() from a signal handler, may hold the lock for
  // ever: then the file is left as a crash would leave it.
  constexpr std::uint32_t patience_ms = 2000;
  recording_summary summary;
  if (!lock_.try_lock_for(patience_ms)) return summary;
  (void)end_gap();
  if (state_ != state::finished) {
    const bool complete = state_ != state::stopped;
    state_ = state::finished;
    const int error = slots_.finish(complete, sequence_, events_);
    if (error == ETIMEDOUT) file_->tell_why(error);
    if (error != 0) error_ = error;
    summary.complete = complete && error == 0;
  }
  summary.error = error_;
  summary.events = events_;
  summary.dropped_events = file_->dropped_events();
  lock_.unlock();
  return summary;
}

}  // namespace memtrace
