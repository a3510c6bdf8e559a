// SPDX-License-Identifier: Apache-2.0
// What the dispatcher asks of the rest of the simulator, and one function "written by hand".
#include <string>

#include "simulator/core/address_space.h"
#include "simulator/core/call_log.h"
#include "simulator/core/export.h"

namespace {
std::string logged;
}

namespace memtrace::simulator {

void log_call(const char* kind, const char* name) {
  logged += std::string(kind) + ' ' + name + '\n';
}

namespace address_space {
span whole() {
  return {0x1000, 0x2000};
}
}  // namespace address_space

}  // namespace memtrace::simulator

MEMTRACE_API int cuInit(unsigned /*flags*/) {
  return 42;
}

MEMTRACE_API const char* memtrace_test_logged() {
  return logged.c_str();
}
