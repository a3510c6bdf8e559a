// SPDX-License-Identifier: Apache-2.0
#include <CLI/App.hpp>
#include <cstdio>

#include "analyzer/cli/command.h"
#include "analyzer/cli/recording.h"

namespace memtrace::cli {

action add_path(CLI::App& app) {
  app.footer("LD_PRELOAD=$(memtrace path) python train.py");
  return [](const program&) {
    const auto library = find_library();
    if (!library) return static_cast<int>(failure);
    std::puts(library->c_str());
    return static_cast<int>(success);
  };
}

}  // namespace memtrace::cli
