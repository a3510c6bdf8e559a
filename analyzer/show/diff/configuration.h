// SPDX-License-Identifier: Apache-2.0
//
// The differences in how two runs were set up: the command line, versions, the GPU, the allocator's
// settings, environment variables, and how the model was trained.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analyzer/run/model/model.h"

namespace memtrace::diff {

struct changed_fact {
  std::string group;  // command, version, gpu, allocator, environment, training, recording
  std::string name;
  std::string before, after;  // empty: not there, or not known
};

// Arguments by name, in the order of the first run, then those that only the second has. `--batch
// 8`, `--batch=8` and `data.batch=8` have names; the others go by their place.
[[nodiscard]] std::vector<changed_fact> compare_commands(const std::vector<std::string>& before,
                                                         const std::vector<std::string>& after);

[[nodiscard]] std::vector<changed_fact> compare_configuration(const run::process_report& before,
                                                              const run::process_report& after);

}  // namespace memtrace::diff
