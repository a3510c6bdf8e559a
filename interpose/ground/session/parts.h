// SPDX-License-Identifier: Apache-2.0
//
// The parts that live and end with this process's recording: one row a part, in one table
// (entry/parts.cpp). Each moment is told to the parts in the table's order; null where a part has
// nothing to do then.
#pragma once

#include <span>

#include "interpose/ground/recorder/recorder.h"

namespace memtrace::session {

struct part {
  const char* name;
  // With the library, where memtrace is not disabled.
  void (*load)() noexcept = nullptr;
  // A child begins without a recording, and without the parent's other threads.
  void (*in_forked_child)() noexcept = nullptr;
  // A recording is made, and no other thread knows it yet.
  void (*open)(recorder& to) noexcept = nullptr;
  // All threads record from here on.
  void (*start)(recorder& to) noexcept = nullptr;
  // Last words, at exit.
  void (*finish)(recorder& to) noexcept = nullptr;
};

// Once, in the library's constructor. The table stays where it is.
void load(std::span<const part> parts) noexcept;

}  // namespace memtrace::session

// The part that reads the program's source (program_sources.cpp).
namespace memtrace::program_sources {

// With the library, before the program reads a file of its own: what has changed since then may not
// be what runs. A forked child inherits the moment.
void load() noexcept;
void in_forked_child() noexcept;
void open(recorder& to) noexcept;
void finish(recorder& to) noexcept;

}  // namespace memtrace::program_sources
