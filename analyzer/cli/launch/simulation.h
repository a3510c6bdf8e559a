// SPDX-License-Identifier: Apache-2.0
//
// The simulated GPU that a program is started on, by dry-run and by fit.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "analyzer/cli/launch/recording.h"
#include "simulator/program/session.h"

namespace CLI {
class App;
}

namespace memtrace::cli {

struct simulated_gpu {
  std::string model = "rtx3090";
  std::string memory;  // "24GiB" or bytes; empty: the model's
  unsigned devices = 1;
  std::string site_packages;  // empty: the program's Python says where
  // Leave out the random values of large weights on the host: docs/simulator.md.
  bool fast_init = false;
  // Values that decide sizes, as the agent takes them; empty: zeros.
  std::string routing;
  std::string masks;
};

// --routing and --masks, for whoever simulates.
void add_value_options(CLI::App& app, simulated_gpu& to);

// All processes of the run share the GPU's memory: as long as this lives.
struct simulation {
  std::unique_ptr<simulator::shared_session> session;
  bool found_torch = false;
};

// Puts what the program needs for it into `into`. Nothing, after one sentence on stderr, where it
// cannot be simulated.
[[nodiscard]] std::optional<simulation> simulate(const program& command,
                                                 const simulated_gpu& wanted,
                                                 recording_options& into);

}  // namespace memtrace::cli
