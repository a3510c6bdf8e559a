// SPDX-License-Identifier: Apache-2.0
//
// Where neither slot is free in time: events are dropped until one is, without any more waiting.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "interpose/ground/recorder/recorder_scope.h"

namespace memtrace {

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
                file_->path().c_str(),
                error == ETIMEDOUT ? "the disk does not keep up" : std::strerror(error));
  say_(sentence);
}

bool recorder::end_gap() noexcept {
  if (state_ != state::gap || !slots_.can_advance() || slots_.advance() != 0) return false;
  state_ = state::recording;
  open_slot();
  const std::string_view why =
      error_ == ETIMEDOUT ? "the disk did not take them in time" : std::strerror(error_);
  unsigned char* at = slots_.current().record_end();
  *at++ = encoding::make_tag(format::kind::operation, 0);
  at = encoding::put_varint(at, static_cast<std::uint32_t>(format::operation::gap));
  at = encoding::put_varint(at, file_->dropped_events() - dropped_before_gap_);
  at = encoding::put_varint(at, gap_began_ns_);
  at = encoding::put_text(at, why);
  slots_.current().commit(at, encoding::put_varint(slots_.current().time_end(), 0));
  ++events_;
  error_ = 0;
  // Who keeps the number of a definition that was not taken asks for it again, and what is told
  // once is told again.
  start_generation(static_cast<std::uint32_t>(next_serial()));
  return true;
}

}  // namespace memtrace
