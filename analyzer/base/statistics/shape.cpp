// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/statistics/judge.h"

namespace memtrace::growth {

std::string_view name_of(shape value) {
  switch (value) {
    case shape::unknown:
      return "unknown";
    case shape::accumulating:
      return "accumulating";
    case shape::stepwise:
      return "stepwise";
    case shape::sawtooth:
      return "sawtooth";
    case shape::sawtooth_leak:
      return "sawtooth_leak";
    case shape::bounded_records:
      return "bounded_records";
    case shape::warmup_plateau:
      return "warmup_plateau";
    case shape::steady:
      return "steady";
  }
  return "unknown";
}

bool is_leak(shape value) {
  return value == shape::accumulating || value == shape::stepwise || value == shape::sawtooth_leak;
}

}  // namespace memtrace::growth
