// SPDX-License-Identifier: Apache-2.0
//
// The growth that the program expects (memtrace_expect_growth): kept for the life of the process,
// as it may be said before the recording begins, and holds in that of a forked child, too. Nothing
// is locked: a child that is forked in the middle finds the list whole.
#pragma once

#include <cstdint>

#include "interpose/door/api/names.h"
#include "interpose/ground/recorder/recorder.h"

namespace memtrace::expectations {

// More are not recorded.
inline constexpr std::uint32_t most = 1024;

// As record `expectation` has it; names may be null.
struct expectation {
  const names::name* what = nullptr;
  const names::name* why = nullptr;
  const names::name* said_in = nullptr;
  std::uint32_t said_at = 0;
  std::uint32_t flags = 0;  // format::expectation_*
  const names::name* owner = nullptr;
  const names::name* file = nullptr;
  std::uint32_t line = 0;
  const names::name* holder = nullptr;

  [[nodiscard]] bool operator==(const expectation&) const = default;
};

// False: that was said before, or there are too many.
bool add(const expectation& said) noexcept;

// An object of Python's, with the GIL: the names that lead to it now. Said again and again at the
// same place, it is looked for a few times only. May leave an error set, as the search for its name
// may.
void add_object(std::uint64_t object, const expectation& said) noexcept;

// A recording has begun.
void record_earlier(recorder& to) noexcept;

}  // namespace memtrace::expectations
