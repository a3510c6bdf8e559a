// SPDX-License-Identifier: Apache-2.0
//
// CUDA functions that the program got by name and whose calls memtrace does not see: kept, and told
// to each recording as operation unknown_entry_point, so that a new CUDA release shows as a gap.
#pragma once

#include <cstdint>

#include "interpose/ground/recorder/recorder.h"

namespace memtrace::unknown_names {

enum class why : std::uint8_t {
  unknown = 0,  // no such name in the release that memtrace was made for
  another = 1,  // of a name that is recorded, but not the function that is
};

// Each name once, however often it is asked for.
void count(const char* name, int version, why reason) noexcept;

// Those from before the recording.
void record_earlier(recorder& to) noexcept;

}  // namespace memtrace::unknown_names
