// SPDX-License-Identifier: Apache-2.0
//
// Info `autograd`: "on", or what is missing and what is therefore not recorded.
#pragma once

#include "interpose/ground/recorder/recorder.h"

namespace memtrace::autograd::status {

// Whether the layout of tensors was confirmed. Outside the allocator: libraries are searched.
void tensors_are_on() noexcept;
void tensors_are_off(const char* reason) noexcept;

// Tells the recorder what is new: at events (one load when nothing is), and at the end, when what
// was still open is not going to be known.
void record_news(recorder& to) noexcept;
void record_at_end(recorder& to) noexcept;

}  // namespace memtrace::autograd::status
