// SPDX-License-Identifier: Apache-2.0
#include "known_functions.h"

namespace memtrace::simulator {

void add_known_functions(std::set<std::string>& functions) {
#define MEMTRACE_CALL(name, ...) functions.insert(#name);
#include "simulator/stubs/out_parameters.def"
#undef MEMTRACE_CALL
}

}  // namespace memtrace::simulator
