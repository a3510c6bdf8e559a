// SPDX-License-Identifier: Apache-2.0
//
// A whole heap scan, apart from where its result goes.
#pragma once

#include <string>
#include <vector>

#include "interpose/sight/heap_scan/heap_scan.h"
#include "interpose/sight/heap_scan/step_lengths.h"
#include "interpose/sight/heap_scan/storage_reader.h"

namespace memtrace::heap_scan {

struct named_storage {
  std::uint64_t address;
  std::uint64_t bytes;
  std::string name;
  std::string detail;
  std::string owners_file;  // of its place; empty: not known
  std::uint32_t flags;      // format::held_*
};

struct findings {
  std::vector<named_storage> storages;
  std::vector<found_container> containers;  // that names alone lead to
  std::uint64_t bytes = 0;
  std::uint64_t missing = 0;  // of what is allocated, in blocks
  std::uint64_t objects = 0;  // that were looked at
  // Limits for the user's own code, and what was found there. What lies beyond may be too much,
  // too.
  bool is_cut_off = false;
  bool went_beyond = false;  // into what lies there
  bool is_incomplete = false;
};

// How far a search goes beyond the user's own code: into packages, and to what has no name.
struct beyond {
  // So many bytes are never found (workspaces of CUDA's libraries): not for these.
  std::uint64_t never_found = 0;
  bool is_allowed = true;
  std::uint64_t times_as_long = 1;  // as the search of the user's code may take
};

// Needs the GIL. Empty where this Python cannot be read. May throw std::bad_alloc.
[[nodiscard]] findings find_held(storage_reader& reader, const limits& at_most,
                                 const beyond& users);

}  // namespace memtrace::heap_scan
