// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "analyzer/show/audit/witness_text.h"
#include "analyzer/trace/reader/ids.h"

namespace memtrace::audit {

// An allocation or a release, as one of the two saw it.
struct sighting {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;  // 0: not said, as most releases
  std::int64_t time_ns = 0;
  std::uint32_t device = 0;
  bool is_release = false;
  bool taken_back = false;  // a release that failed
  // Known to the hooks
  std::uint64_t event = 0;
  trace::text_id api;
  trace::text_id owner;
  bool has_owner = false;
  trace::stack_id stack;
  // Known to CUPTI
  memory_kind kind{};
  std::uint64_t correlation = 0;
};

}  // namespace memtrace::audit
