// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/launch/simulation.h"

#include <utility>

#include "analyzer/cli/io/log.h"
#include "simulator/program/prepare.h"

namespace memtrace::cli {

std::optional<simulation> simulate(const program& command, const simulated_gpu& wanted,
                                   recording_options& into) {
  simulator::launch_request request;
  request.command = command;
  request.gpu = wanted.model;
  request.memory = wanted.memory;
  request.devices = wanted.devices;
  request.fast_init = wanted.fast_init;
  request.simulator_dir = executable_folder() + "/simulator";
  if (!wanted.site_packages.empty()) request.site_packages.emplace_back(wanted.site_packages);
  auto prepared = simulator::prepare(request);
  if (!prepared.ok()) {
    log::error("{}", prepared.error());
    return std::nullopt;
  }
  simulation made{std::make_unique<simulator::shared_session>(), prepared.value().found_torch};
  into.environment = std::move(prepared.value().variables);
  into.environment.emplace_back("MEMTRACE_SIM_SESSION", made.session->name());
  into.preload = std::move(prepared.value().preload);
  // PyTorch frees some tensors in the order of their addresses on the host.
  into.fixed_addresses = true;
  return made;
}

}  // namespace memtrace::cli
