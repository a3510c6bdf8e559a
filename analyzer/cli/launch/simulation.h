// SPDX-License-Identifier: Apache-2.0
//
// The simulated GPU that a program is started on, by dry-run and by fit.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/cli/io/temporary_folder.h"
#include "analyzer/cli/launch/recording.h"
#include "simulator/program/session.h"

namespace CLI {
class App;
}

namespace memtrace::cli {

// A world of ranks of which a few are run: which, and what each of them finds in its environment,
// as torchrun would set it. The others are played (simulator/program/absent_ranks.py).
struct world {
  unsigned size = 0;             // 0: the program is started once, as it is
  std::string ranks = "0,last";  // that run: numbers, first-last, the word last
};

// What must stay as long as the ranks run. Those of one node share its GPUs' memory.
struct started_world {
  std::vector<std::unique_ptr<simulator::shared_session>> nodes;
  std::unique_ptr<temporary_folder> site;
  std::vector<variables> each;
};

// Nothing, after one sentence on stderr, where the ranks cannot be run so.
[[nodiscard]] std::optional<started_world> prepare_world(const program& command,
                                                         const world& wanted, unsigned devices);

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
  world job;
};

// Where nobody named the devices: 8 to a node of a job, or the whole of a smaller one.
void choose_devices(simulated_gpu& to, bool are_named);

// --routing and --masks, for whoever simulates.
void add_value_options(CLI::App& app, simulated_gpu& to);

// All processes of the run share the GPU's memory: as long as this lives.
struct simulation {
  std::unique_ptr<simulator::shared_session> session;
  bool found_torch = false;
  started_world ranks;
};

// Puts what the program needs for it into `into`. Nothing, after one sentence on stderr, where it
// cannot be simulated.
[[nodiscard]] std::optional<simulation> simulate(const program& command,
                                                 const simulated_gpu& wanted,
                                                 recording_options& into);

}  // namespace memtrace::cli
