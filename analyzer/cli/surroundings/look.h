// SPDX-License-Identifier: Apache-2.0
//
// Looks at everything on which a recording depends, before a program is started: what memtrace run
// says in one line, and memtrace doctor in full. Starts nothing but the program's Python, once.
#pragma once

#include <string>
#include <vector>

#include "analyzer/cli/surroundings/finding.h"

namespace memtrace::cli::surroundings {

struct place {
  std::vector<std::string>
      command;          // empty: doctor was asked for no program; the first Python then
  std::string library;  // libmemtrace.so
  std::string folder;   // for the traces; exists
  std::string mode;     // --mode; empty: as MEMTRACE says
};

[[nodiscard]] findings look(const place& at);

// "allocations, CUDA calls and Python stacks": what the mode records, as MEMTRACE and the variables
// of single rows say. An unknown MEMTRACE counts as standard, as it does in libmemtrace.so.
[[nodiscard]] std::string what_is_on(const std::string& mode);

}  // namespace memtrace::cli::surroundings
