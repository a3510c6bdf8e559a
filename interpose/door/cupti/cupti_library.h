// SPDX-License-Identifier: Apache-2.0
//
// The CUPTI of this process: the one that is loaded, as PyTorch's, else the one that the linker
// finds. libmemtrace.so itself needs none.
#pragma once

#include "interpose/door/cupti/cupti_records.h"

namespace memtrace::cupti {

struct library {
  int (*version)(std::uint32_t*) = nullptr;
  int (*timestamp)(std::uint64_t*) = nullptr;
  int (*subscribe)(subscriber*, callback, void*) = nullptr;
  int (*unsubscribe)(subscriber) = nullptr;
  int (*enable)(record_kind) = nullptr;
  int (*disable)(record_kind) = nullptr;
  int (*register_callbacks)(request_buffer, complete_buffer) = nullptr;
  int (*flush_all)(std::uint32_t) = nullptr;
  int (*next_record)(std::uint8_t*, std::size_t, void**) = nullptr;
  int (*dropped_records)(void*, std::uint32_t, std::size_t*) = nullptr;
  // Null in a CUPTI that is older or has none.
  int (*flush_period)(std::uint32_t) = nullptr;
  int (*configure_migration)(migration_config*, std::uint32_t) = nullptr;

  [[nodiscard]] bool is_complete() const noexcept;
};

// False: there is none, or it lacks a function. Takes the dynamic linker's locks.
[[nodiscard]] bool find_library(library& found) noexcept;

}  // namespace memtrace::cupti
