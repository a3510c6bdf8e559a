// SPDX-License-Identifier: Apache-2.0
//
// Starts a server on simulated GPUs, and ends it as soon as it takes connections: first by SIGTERM,
// as engines have shared memory to take away, and after ten seconds for good. A program that ends by
// itself with status 0 has started, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "analyzer/cli/launch/background_dry_run.h"
#include "analyzer/cli/launch/simulation.h"
#include "analyzer/plan/serve/cell.h"

namespace memtrace::cli {

class server_start {
 public:
  // `gpu`: its model and memory are those of each start.
  server_start(const serve::request& wanted, const simulated_gpu& gpu, std::uint64_t timeout_s)
      : wanted_(wanted), gpu_(gpu), timeout_s_(timeout_s) {}

  // Until it takes connections, ends, or its time is over. `folder`: is made, for the traces and
  // what the server writes. Says, once, what the command was given so that it needs no weights. A
  // start that could not be tried is `stopped`, with the sentence why.
  [[nodiscard]] serve::cell run(const fit::gpu_choice& gpu, std::size_t variant,
                                const std::string& folder);

 private:
  void watch(background_dry_run& running, std::uint64_t port, serve::cell& into) const;

  const serve::request& wanted_;
  const simulated_gpu& gpu_;
  std::uint64_t timeout_s_;
  std::set<std::string> told_;
};

}  // namespace memtrace::cli
