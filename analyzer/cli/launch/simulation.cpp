// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/launch/simulation.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include "analyzer/cli/io/log.h"
#include "simulator/program/prepare.h"

namespace memtrace::cli {

namespace {

// Its file is read here: the program may run in another directory. Empty where it is none.
[[nodiscard]] std::string shares_in(const std::string& file) {
  std::ifstream in(file);
  std::vector<double> shares;
  double sum = 0;
  for (double share = 0; in >> share; sum += share) {
    if (!std::isfinite(share) || share < 0) return {};
    shares.push_back(share);
  }
  if (!in.eof() || shares.size() < 2 || sum <= 0) return {};
  return fmt::format("shares:{}", fmt::join(shares, ","));
}

// What the option's text says to the agent.
[[nodiscard]] std::string routing_of(std::string& text) {
  if (text == "balanced" || text == "worst") return {};
  if (constexpr std::string_view zipf = "zipf:"; text.starts_with(zipf)) {
    std::istringstream number(text.substr(zipf.size()));
    double exponent = 0;
    if (number >> exponent && number.eof() && std::isfinite(exponent) && exponent > 0) return {};
  } else if (std::string shares = shares_in(text); !shares.empty()) {
    text = std::move(shares);
    return {};
  }
  return fmt::format(
      "takes balanced, worst, zipf:S with S above 0, or a file with the share of each expert, one "
      "to a line; not \"{}\"",
      text);
}

}  // namespace

void choose_devices(simulated_gpu& to, bool are_named) {
  constexpr unsigned devices_of_a_node = 8;
  if (to.job.size > 0 && !are_named) to.devices = std::min(to.job.size, devices_of_a_node);
}

void add_value_options(CLI::App& app, simulated_gpu& to) {
  app.add_option(
         "--routing", to.routing,
         "Whom computed values choose (experts by topk): balanced, worst, zipf:S, or a file of "
         "shares")
      ->type_name("KIND")
      ->transform(CLI::Validator(routing_of, ""))
      ->envname("MEMTRACE_SIM_ROUTING");
  app.add_option("--masks", to.masks,
                 "The share of elements that meet a condition on computed values, 0 to 1")
      ->type_name("SHARE")
      ->check(CLI::Range(0.0, 1.0))
      ->envname("MEMTRACE_SIM_MASKS");
}

std::optional<simulation> simulate(const program& command, const simulated_gpu& wanted,
                                   recording_options& into) {
  started_world ranks;
  if (wanted.job.size > 0) {
    auto prepared = prepare_world(command, wanted.job, wanted.devices);
    if (!prepared) return std::nullopt;
    ranks = std::move(*prepared);
  }
  simulator::launch_request request;
  request.command = command;
  request.gpu = wanted.model;
  request.memory = wanted.memory;
  request.devices = wanted.devices;
  request.fast_init = wanted.fast_init;
  request.routing = wanted.routing;
  request.masks = wanted.masks;
  request.simulator_dir = executable_folder() + "/simulator";
  if (!wanted.site_packages.empty()) request.site_packages.emplace_back(wanted.site_packages);
  auto prepared = simulator::prepare(request);
  if (!prepared.ok()) {
    log::error("{}", prepared.error());
    return std::nullopt;
  }
  simulation made{std::make_unique<simulator::shared_session>(), prepared.value().found_torch,
                  std::move(ranks)};
  into.environment = std::move(prepared.value().variables);
  into.environment.emplace_back("MEMTRACE_SIM_SESSION", made.session->name());
  into.ranks = std::move(made.ranks.each);
  into.preload = std::move(prepared.value().preload);
  // PyTorch frees some tensors in the order of their addresses on the host.
  into.fixed_addresses = true;
  return made;
}

}  // namespace memtrace::cli
