// SPDX-License-Identifier: Apache-2.0
//
// Where neither slot is free in time: events are dropped until one is, without any more waiting.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "interpose/ground/recorder/recorder_scope.h"

namespace memtrace {

namespace {

// In words, for an errno value that the disk or the slots gave.
const char* what_failed(int error) noexcept {
  switch (error) {
    case ETIMEDOUT:
      return "the disk did not take them in time";
    case EAGAIN:
      return "no thread could be had to write them";
    default:
      return std::strerror(error);
  }
}

}  // namespace

void recorder::begin_gap(int error) noexcept {
  state_ = state::gap;
  error_ = error;
  gap_began_ns_ = monotonic_ns();
  dropped_before_gap_ = file_->dropped_events();
  file_->tell_why(error);
  if (say_ == nullptr || gap_told_) return;
  gap_told_ = true;
  char sentence[512];
  std::snprintf(sentence, sizeof sentence,
                "%s cannot be written (%s): events are not recorded, only counted, until it can; "
                "make room, or set MEMTRACE_OUTPUT to another directory",
                file_->path().c_str(), what_failed(error));
  say_(sentence);
}

bool recorder::end_gap() noexcept {
  if (state_ != state::gap || !slots_.can_advance() || slots_.advance() != 0) return false;
  state_ = state::recording;
  open_slot();
  put_gap(file_->dropped_events() - dropped_before_gap_, gap_began_ns_, error_);
  error_ = 0;
  // Who keeps the number of a definition that was not taken asks for it again, and what is told
  // once is told again.
  start_generation(static_cast<std::uint32_t>(next_serial()));
  return true;
}

void recorder::missed(std::uint64_t events, std::uint64_t since_ns) noexcept {
  const scope section(*this);
  if (!make_room(small_record_bytes)) return;
  file_->drop_events(events);
  file_->tell_why(ETIMEDOUT);
  put_gap(events, since_ns, ETIMEDOUT);
}

// Into a slot that has room.
void recorder::put_gap(std::uint64_t events, std::uint64_t since_ns, int error) noexcept {
  const std::string_view why = what_failed(error);
  unsigned char* at = slots_.current().record_end();
  *at++ = encoding::make_tag(format::kind::operation, 0);
  at = encoding::put_varint(at, static_cast<std::uint32_t>(format::operation::gap));
  at = encoding::put_varint(at, events);
  at = encoding::put_varint(at, since_ns);
  at = encoding::put_text(at, why);
  slots_.current().commit(at, encoding::put_varint(slots_.current().time_end(), 0));
  ++events_;
}

}  // namespace memtrace
