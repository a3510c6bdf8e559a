// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

namespace memtrace::simulator {

// Adds the functions of simulator/stubs/out_parameters.def.
void add_known_functions(std::set<std::string>& functions);

}  // namespace memtrace::simulator
