// SPDX-License-Identifier: Apache-2.0
#include "simulator/untouched/exported.h"

#include <cstdlib>
#include <string_view>

namespace memtrace::simulator::untouched {
namespace {

bool is_asked_for() {
  const char* const value = std::getenv("MEMTRACE_SIM_FAST_INIT");
  return value != nullptr && std::string_view(value) == "1";
}

}  // namespace

const bool is_on = is_asked_for();

}  // namespace memtrace::simulator::untouched
