// SPDX-License-Identifier: Apache-2.0
//
// The Python that does what is done by Python: MEMTRACE_PYTHON, which the installed memtrace sets
// to its own, else python3.
#pragma once

#include <string>
#include <vector>

namespace memtrace::tables {

[[nodiscard]] std::string interpreter();

// The environment of this process for it, as NAME=value, so that nothing is recorded in it.
[[nodiscard]] std::vector<std::string> unrecorded_environment();

// As exec takes them, with a null behind; good while `of` is.
[[nodiscard]] std::vector<char*> pointers(std::vector<std::string>& of);

}  // namespace memtrace::tables
