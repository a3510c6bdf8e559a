// SPDX-License-Identifier: Apache-2.0
// The functions that the dispatcher needs from the rest of the simulator, and one function "written
// by hand".
#include <string>

#include "simulator/core/call_log.h"
#include "simulator/core/export.h"
#include "simulator/stubs/device_writes.h"

namespace {
std::string logged;
}

namespace memtrace::simulator {

void log_call(const char* kind, const char* name) {
  logged += std::string(kind) + ' ' + name + '\n';
}

bool is_on_device(std::uint64_t address) {
  return address >= 0x1000 && address < 0x2000;
}

void zero_on_device(std::uint64_t address, std::size_t bytes) {
  logged += "zero " + std::to_string(address) + ' ' + std::to_string(bytes) + '\n';
}

void computed_on_device(std::uint64_t address) {
  logged += "computed " + std::to_string(address) + '\n';
}

}  // namespace memtrace::simulator

MEMTRACE_API int cuInit(unsigned /*flags*/) {
  return 42;
}

MEMTRACE_API const char* memtrace_test_logged() {
  return logged.c_str();
}
