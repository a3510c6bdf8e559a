// SPDX-License-Identifier: Apache-2.0
//
// The program's own text, for the trace (capability `source`): each file that has a frame on a
// recorded stack, or owns what keeps memory alive, is read once by a thread of ours, soon after the
// trace has named it. No event waits for that: a disk that does not answer, or a file that is gone,
// costs the text alone (format::source_unreadable).
//
//   a frame that is new ─► source_list ─► thread: open, read, close ─► records of 32 KiB
//                                           └ exit waits a little for what is still to be read
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <new>

#include "interpose/ground/base/futex.h"
#include "interpose/ground/base/own_descriptors.h"
#include "interpose/ground/recorder/quiet_thread.h"
#include "interpose/ground/recorder/source_text.h"
#include "interpose/ground/recorder/tick_clock.h"
#include "interpose/ground/session/parts.h"
#include "interpose/ground/session/refusals.h"

namespace memtrace::program_sources {
namespace {

constexpr std::uint32_t longest_sleep_ms = 60'000;
constexpr std::uint32_t retry_ms = 10;
constexpr std::uint64_t patience_at_exit_ms = 500;

std::uint64_t loaded_ns = 0;  // since 1970

// A forked child makes it anew.
struct running {
  recorder* to = nullptr;
  std::uint64_t left = format::most_sources_bytes;
  std::atomic<std::uint32_t> reading{0};  // the file that the thread reads; 0: none
  std::atomic<std::uint32_t> stop{0};     // the exit waits for the rest
  std::atomic<std::uint32_t> is_too_late{0};
  std::atomic<std::uint32_t> ended{0};
};
alignas(running) char storage[sizeof(running)];
std::atomic<running*> current{nullptr};

// Waits for room; false when there will be none any more.
bool record(running& now, const source_part_event& part) noexcept {
  while (now.is_too_late.load(std::memory_order_relaxed) == 0) {
    if (now.to->source(part)) return true;
    futex_wait(now.is_too_late, 0, retry_ms);
  }
  return false;
}

void record(running& now, std::uint32_t file, const source_text& found) noexcept {
  source_part_event part{file, found.flags, found.modified_ns, found.bytes};
  if (!found.has_text()) {
    (void)record(now, part);
    return;
  }
  const sha256::hexadecimal digest = sha256::of(found.text);
  part.digest = {digest.data(), digest.size()};
  const std::string_view text = found.text;
  do {
    part.text = text.substr(part.offset, format::source_part_bytes);
    if (!record(now, part)) return;
    part.offset += part.text.size();
  } while (part.offset < text.size());
}

void read(running& now, const source_list::entry& file) noexcept {
  now.reading.store(file.id, std::memory_order_release);
  const std::uint64_t most = std::min<std::uint64_t>(format::most_source_bytes, now.left);
  const source_text found = read_source(file.path.c_str(), loaded_ns, most);
  // The exit has not waited for it, and has said so.
  if (now.reading.exchange(0, std::memory_order_acq_rel) == 0) return;
  now.left -= found.text.size();
  record(now, file.id, found);
}

void serve(running& now) noexcept {
  source_list& list = now.to->sources();
  while (now.is_too_late.load(std::memory_order_acquire) == 0) {
    const std::uint32_t seen = list.news().load(std::memory_order_acquire);
    source_list::entry next;
    while (now.is_too_late.load(std::memory_order_acquire) == 0 && list.take(next)) {
      read(now, next);
    }
    if (now.stop.load(std::memory_order_acquire) != 0) return;
    futex_wait(list.news(), seen, longest_sleep_ms);
  }
}

void* run(void* argument) {
  auto& now = *static_cast<running*>(argument);
  pthread_setname_np(pthread_self(), "memtrace-source");
  if (leave_shared_descriptors()) {
    serve(now);
  } else {
    refusals::refuse(capability::source, "a thread can have no file descriptors of its own here");
  }
  now.ended.store(1, std::memory_order_release);
  futex_wake_all(now.ended);
  return nullptr;
}

// Those that nobody has read by now.
void record_unread(running& now) noexcept {
  const auto is_unread = [&](std::uint32_t file) {
    (void)now.to->source({.file = file, .flags = format::source_unreadable});
  };
  if (const auto file = now.reading.exchange(0, std::memory_order_acq_rel); file != 0) {
    is_unread(file);
  }
  source_list::entry next;
  while (now.to->sources().take(next)) is_unread(next.id);
}

}  // namespace

void load() noexcept {
  loaded_ns = realtime_ns();
}

void open(recorder& to) noexcept {
  if (!refusals::is_allowed(capability::source)) return;
  auto* const made = new (storage) running;
  made->to = &to;
  pthread_t thread{};
  if (!start_quiet_thread(thread, &run, made)) return;
  pthread_detach(thread);
  to.sources().begin();
  current.store(made, std::memory_order_release);
}

void finish(recorder& /*to*/) noexcept {
  running* const now = current.load(std::memory_order_acquire);
  if (now == nullptr) return;
  now->stop.store(1, std::memory_order_release);
  now->to->sources().wake();
  const std::uint64_t until = monotonic_ns() + patience_at_exit_ms * 1'000'000;
  while (now->ended.load(std::memory_order_acquire) == 0 && monotonic_ns() < until) {
    futex_wait(now->ended, 0, retry_ms);
  }
  now->is_too_late.store(1, std::memory_order_release);
  record_unread(*now);
}

void in_forked_child() noexcept {
  current.store(nullptr, std::memory_order_relaxed);
}

}  // namespace memtrace::program_sources
