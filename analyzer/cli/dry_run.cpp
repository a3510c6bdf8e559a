// SPDX-License-Identifier: Apache-2.0
#include <CLI/App.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/cli/command.h"
#include "analyzer/cli/log.h"
#include "analyzer/cli/recording.h"
#include "analyzer/gpus/gpus.h"
#include "analyzer/text/size.h"
#include "simulator/program/prepare.h"
#include "simulator/program/session.h"

namespace memtrace::cli {

namespace {

struct dry_run_options {
  std::string gpu = "rtx3090";
  std::string memory;
  unsigned devices = 1;
  std::string site_packages;
  bool list_gpus = false;
  bool bare = false;
  bool no_report = false;
  bool fast_init = false;
  recording_options recording;
};

int dry_run(const program& command, dry_run_options& chosen) {
  if (chosen.list_gpus || chosen.gpu == "list") {
    gpus::print_gpus(stdout);
    return success;
  }
  if (gpus::find(chosen.gpu) == nullptr) {
    log::error("{}", gpus::unknown_gpu_sentence(chosen.gpu));
    return usage;
  }
  if (command.empty()) {
    log::error("put the program after --: memtrace dry-run --gpu {} -- python train.py",
               chosen.gpu);
    return usage;
  }
  simulator::launch_request request;
  request.command = command;
  request.gpu = chosen.gpu;
  request.memory = chosen.memory;
  request.devices = chosen.devices;
  request.fast_init = chosen.fast_init;
  request.simulator_dir = executable_folder() + "/simulator";
  if (!chosen.site_packages.empty()) request.site_packages.emplace_back(chosen.site_packages);
  const auto prepared = simulator::prepare(request);
  if (!prepared.ok()) {
    log::error("{}", prepared.error());
    return failure;
  }
  chosen.recording.record = !chosen.bare;
  chosen.recording.report = !chosen.no_report;
  // All processes of the run share the GPU's memory.
  const simulator::shared_session session;
  chosen.recording.environment = prepared.value().variables;
  chosen.recording.environment.emplace_back("MEMTRACE_SIM_SESSION", session.name());
  // PyTorch frees some tensors in the order of their addresses on the host.
  chosen.recording.fixed_addresses = true;
  chosen.recording.preload = prepared.value().preload;
  const int status = record_and_report(command, chosen.recording);
  if (status != success && !prepared.value().found_torch) {
    log::note(
        "the simulated GPU was made without a PyTorch, because the Python that "
        "the command names has none; if the program uses another one, name its packages "
        "with --site-packages DIR");
  }
  return status;
}

}  // namespace

action add_dry_run(CLI::App& app) {
  const auto chosen = std::make_shared<dry_run_options>();
  app.add_option("--gpu", chosen->gpu, "The GPU to simulate; list prints those known")
      ->capture_default_str();
  app.add_flag("--list-gpus", chosen->list_gpus, "Print the GPUs that can be simulated");
  app.add_option("--memory", chosen->memory, "Its memory, as 24GiB, instead of the model's")
      ->check([](const std::string& text) {
        return text::parse_size(text) ? std::string()
                                      : "'" + text + "' is no size; write bytes, or 24GiB";
      });
  app.add_option("--devices", chosen->devices, "How many of them")
      ->check(CLI::Range(0, 16))
      ->capture_default_str();
  add_recording_options(app, chosen->recording);
  app.add_flag("--bare", chosen->bare, "Only simulate, record nothing");
  app.add_flag("--no-report", chosen->no_report, "Only simulate and record");
  app.add_flag("--fast-init", chosen->fast_init,
               "Leave out the random values of large weights on the CPU, which are zeros then")
      ->envname("MEMTRACE_SIM_FAST_INIT");
  app.add_option("--site-packages", chosen->site_packages,
                 "Where torch is installed, if the program's Python cannot say")
      ->check(CLI::ExistingDirectory);
  return [chosen](const program& command) { return dry_run(command, *chosen); };
}

}  // namespace memtrace::cli
