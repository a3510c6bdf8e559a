// SPDX-License-Identifier: Apache-2.0
//
// What a container is, how long, and whether it stops growing by itself.
#pragma once

#include <string>

#include "interpose/census/object_kinds.h"

namespace memtrace::census {

struct container_facts {
  std::string type;
  std::uint64_t length = 0;
  bool is_bounded = false;  // deque(maxlen=…), lru_cache(maxsize=…)
};

[[nodiscard]] container_facts facts_of(const python_objects& python, address object, kind what);

}  // namespace memtrace::census
