// SPDX-License-Identifier: Apache-2.0
// Makes the environment in which a program runs on the simulated GPU: finds what the installed
// Python packages need of CUDA, writes stand-ins for it into a cache, and says which variables to
// set. Nothing is executed here but the program's own Python, once, to ask for its module path.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "result.h"

namespace memtrace::simulator {

struct launch_request {
  std::vector<std::string> command;  // the program and its arguments, as the user typed them
  std::string gpu;                   // a name of the GPU table; empty: the simulator's default
  std::string memory;                // "24GiB" or bytes; empty: what the GPU has
  unsigned devices = 1;
  std::string log;        // file that gets the calls nobody implements; empty: none
  std::string constants;  // "name=bytes,…", overrides the simulator's constants; empty: none
  // What computed values choose, and how many of them meet a condition (docs/simulator.md); empty:
  // they are zeros.
  std::string routing;
  std::string masks;
  bool fast_init = false;  // leave out the values of large weights on the host (docs/simulator.md)
  std::filesystem::path simulator_dir;  // holds cuda13/ and cuda12/; empty: next to the executable
  std::filesystem::path cache_dir;      // empty: $XDG_CACHE_HOME, ~/.cache or $TMPDIR
  std::vector<std::filesystem::path> site_packages;  // empty: ask the program's Python
};

struct launch_environment {
  // Variables to set, LD_LIBRARY_PATH complete with what it held before; not LD_PRELOAD.
  std::vector<std::pair<std::string, std::string>> variables;
  // To append to LD_PRELOAD after libmemtrace.so; empty where LD_LIBRARY_PATH is enough.
  std::vector<std::string> preload;
  std::filesystem::path library_dir;  // the stand-ins
  unsigned cuda_major = 13;
  bool found_torch = false;  // without torch the stand-ins hold every function of the table
};

// Errors: the simulator is not built or not where it should be, the cache cannot be written, a
// given site-packages folder cannot be read. A program without torch or Python is no error.
[[nodiscard]] result<launch_environment> prepare(const launch_request& request);

}  // namespace memtrace::simulator
