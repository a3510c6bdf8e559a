// SPDX-License-Identifier: Apache-2.0
//
// The text of the operations `witness` and `witness_state` (memtrace/trace_format.h). Times are
// since the trace was created, as everywhere in the analyzer; CUPTI may have begun before it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "memtrace/trace_format.h"

namespace memtrace::audit {

// A time that can be added to and subtracted from, whatever a trace claims.
[[nodiscard]] std::int64_t bounded_time(std::uint64_t ns);

// CUpti_ActivityMemoryKind.
enum class memory_kind : std::uint64_t {
  unknown = 0,
  pageable = 1,
  pinned = 2,
  device = 3,
  array = 4,
  managed = 5,
  device_static = 6,
  managed_static = 7,
};

struct witness_text {
  std::uint64_t operation = 0;  // 1 allocation, 2 release; 11, 12, 13 of pools
  memory_kind kind{};
  std::int64_t time_ns = 0;
  std::uint64_t correlation = 0;
};
// Nothing for a text that is not one.
[[nodiscard]] std::optional<witness_text> parse_witness(std::string_view text,
                                                        const format::file_header& header);

struct state_text {
  std::int64_t time_ns = 0;
  std::uint64_t version = 0;  // as cuptiGetVersion says
  std::string reason;         // why CUPTI does not listen (any more)
};
[[nodiscard]] std::optional<state_text> parse_state(std::string_view text,
                                                    const format::file_header& header);

}  // namespace memtrace::audit
