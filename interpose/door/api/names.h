// SPDX-License-Identifier: Apache-2.0
//
// The names that the program gave: kept for the life of the process, so that they can be told
// before a recording runs, and again to the recording of a forked child. Nothing is locked: a
// child that is forked in the middle finds the table whole.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "interpose/ground/recorder/recorder.h"

namespace memtrace::names {

// A longer text is cut: its beginning is the name.
inline constexpr std::size_t max_bytes = 1000;
// Names that a program makes up beyond this (a name for each step) is called "…".
inline constexpr std::uint32_t max_names = 100'000;

struct name {
  const name* next;
  std::uint64_t hash;
  std::string_view text;
  mutable std::atomic<std::uint64_t> id{0};  // generation, text id in it
};

// Null when memory is short.
[[nodiscard]] const name* intern(std::string_view text) noexcept;

// Its text id in a recording; 0 without a name, or when nothing can be recorded.
[[nodiscard]] std::uint32_t text_id(recorder& to, const name* which) noexcept;

}  // namespace memtrace::names
