// SPDX-License-Identifier: Apache-2.0
//
// The kind and the length of a container, whether it stops growing by itself, and what its keys
// are.
#pragma once

#include <string>

#include "interpose/sight/heap_scan/object_kinds.h"

namespace memtrace::heap_scan {

// For a dictionary. Keys that something else holds, too (the names of a list, the parameters of a
// model), are no more than that has; others may be ever new.
enum class key_kind : char {
  none = 0,
  numbers = 'i',  // whole ones, or up to four in a tuple
  known = 'k',
  unknown = 'n',
};

struct container_facts {
  std::string type;
  std::uint64_t length = 0;
  bool is_bounded = false;  // deque(maxlen=…), lru_cache(maxsize=…)
  std::uint64_t most = 0;   // elements of one that is bounded
  key_kind keys = key_kind::none;
};

[[nodiscard]] container_facts facts_of(const python_objects& python, address object, kind what);

}  // namespace memtrace::heap_scan
