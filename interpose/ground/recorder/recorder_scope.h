// SPDX-License-Identifier: Apache-2.0
//
// One locked section of the recorder: takes the lock, knows whether recording goes on, and offers
// the steps that every record is made of. Private to the recorder's source files.
#pragma once

#include <algorithm>
#include <atomic>

#include "interpose/ground/recorder/encoding.h"
#include "interpose/ground/recorder/recorder.h"

namespace memtrace {

// Enough for three records without a text, each with a context record.
inline constexpr std::size_t small_record_bytes = 320;

// A thread as the recorder with that serial number knows it.
struct thread_identity {
  std::uint64_t serial = 0;
  std::uint32_t id = 0;
};

class [[nodiscard]] recorder::scope {
 public:
  explicit scope(recorder& owner) noexcept : owner_(owner) {
    if (thread_is_inside_) return;  // a signal handler on top of a call of this thread
    thread_is_inside_ = true;
    entered_ = true;
    // A handler must see the mark whenever this thread holds the lock.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    owner_.lock_.lock();
  }
  ~scope() {
    if (!entered_) return;
    owner_.lock_.unlock();
    std::atomic_signal_fence(std::memory_order_seq_cst);
    thread_is_inside_ = false;
  }
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;

  // False when nothing can be recorded (any more).
  [[nodiscard]] bool begin(std::size_t record_bytes) noexcept {
    if (!entered_ || !owner_.make_room(record_bytes)) return false;
    record_ = owner_.slots_.current().record_end();
    time_ = owner_.slots_.current().time_end();
    return true;
  }
  // For timed records: as begin(), and what is not recorded is counted.
  [[nodiscard]] bool begin_event(std::size_t record_bytes) noexcept {
    if (begin(record_bytes)) return true;
    owner_.file_->drop_events(1);
    return false;
  }

  void tag(format::kind kind, unsigned flags = 0) noexcept {
    *record_++ = encoding::make_tag(kind, flags);
  }
  void value(std::uint64_t v) noexcept { record_ = encoding::put_varint(record_, v); }
  void text(std::string_view s) noexcept { record_ = encoding::put_text(record_, s); }
  void address(std::uint64_t a) noexcept {
    record_ = encoding::put_signed(record_, a - owner_.context_.address);
    owner_.context_.address = a;
  }
  // In a skippable record: does not become the context, which a reader that skips it must know.
  void near_address(std::uint64_t a) noexcept {
    record_ = encoding::put_signed(record_, a - owner_.context_.address);
  }
  void signed_value(std::int64_t v) noexcept {
    record_ = encoding::put_signed(record_, static_cast<std::uint64_t>(v));
  }

  // A skippable record: the length of its payload goes before it. At most 127 bytes of payload:
  // numbers, no texts.
  void begin_payload(format::kind kind) noexcept {
    tag(kind);
    payload_ = record_++;
  }
  void end_payload() noexcept { *payload_ = static_cast<unsigned char>(record_ - payload_ - 1); }

  // A record behind the escape, of so many bytes of payload. (Its tag is that of kind 0.)
  void escape(format::kind kind, std::size_t payload_bytes) noexcept {
    *record_++ = format::escape_tag;
    value(static_cast<std::uint64_t>(kind));
    value(payload_bytes);
  }
  void bytes(std::string_view b) noexcept { record_ = std::copy(b.begin(), b.end(), record_); }

  // Says whose record follows, if that has changed. Before the tag.
  void context(std::uint32_t device, std::uint32_t thread) noexcept {
    auto& now = owner_.context_;
    if (device == now.device && thread == now.thread) return;
    tag(format::kind::context);
    value(device);
    value(thread);
    now.device = device;
    now.thread = thread;
  }

  // The event's time. Counters of two cores may differ by a little: time never goes back.
  void time() noexcept { put_time(owner_.clock_.ticks()); }
  // That of the event before it.
  void same_time() noexcept {
    *time_++ = 0;
    ++owner_.events_;
  }

  void commit() noexcept { owner_.slots_.current().commit(record_, time_); }

  [[nodiscard]] std::uint32_t thread() noexcept {
    if (!entered_) return 0;
    return thread_.serial == owner_.serial_ ? thread_.id : owner_.define_thread();
  }
  static void remember_thread(thread_identity who) noexcept { thread_ = who; }

 private:
  void put_time(std::uint64_t now) noexcept {
    auto& last = owner_.context_.ticks;
    const std::uint32_t shift = owner_.clock_.shift();
    const std::uint64_t units = now > last ? (now - last) >> shift : 0;
    last += units << shift;
    time_ = encoding::put_varint(time_, units);
    ++owner_.events_;
  }

  static inline thread_local constinit bool thread_is_inside_ = false;
  static inline thread_local constinit thread_identity thread_{};

  recorder& owner_;
  unsigned char* record_ = nullptr;
  unsigned char* time_ = nullptr;
  unsigned char* payload_ = nullptr;
  bool entered_ = false;
};

}  // namespace memtrace
