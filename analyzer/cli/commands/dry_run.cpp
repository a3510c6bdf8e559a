// SPDX-License-Identifier: Apache-2.0
#include <CLI/App.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/base/gpus/gpus.h"
#include "analyzer/cli/commands/arguments.h"
#include "analyzer/cli/commands/command.h"
#include "analyzer/cli/io/log.h"
#include "analyzer/cli/launch/recording.h"
#include "analyzer/cli/launch/simulation.h"

namespace memtrace::cli {

namespace {

struct dry_run_options {
  simulated_gpu gpu;
  bool list_gpus = false;
  bool bare = false;
  bool no_report = false;
  recording_options recording;
};

int dry_run(const program& command, dry_run_options& chosen) {
  if (chosen.list_gpus || chosen.gpu.model == "list") {
    gpus::print_gpus(stdout);
    return success;
  }
  const auto* const gpu = find_gpu(chosen.gpu.model);
  if (gpu == nullptr) return usage;
  chosen.gpu.model = gpu->key;
  if (!chosen.gpu.memory.empty()) {
    const auto bytes = size_in("--memory", chosen.gpu.memory, "24GiB");
    if (!bytes) return usage;
    chosen.gpu.memory = std::to_string(*bytes);  // 24GB: the simulator has other words for sizes
  }
  if (command.empty()) {
    log::error("put the program after --: memtrace dry-run --gpu {} -- python train.py",
               chosen.gpu.model);
    return usage;
  }
  const bool has_no_agent = chosen.bare || chosen.recording.mode == "minimal";
  if (has_no_agent && !(chosen.gpu.routing.empty() && chosen.gpu.masks.empty())) {
    log::error("--routing and --masks need the agent: leave out {}",
               chosen.bare ? "--bare" : "--mode minimal");
    return usage;
  }
  const auto simulated = simulate(command, chosen.gpu, chosen.recording);
  if (!simulated) return failure;
  chosen.recording.record = !chosen.bare;
  chosen.recording.report = !chosen.no_report;
  const int status = record_and_report(command, chosen.recording);
  if (status != success && !simulated->found_torch) {
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
  app.add_option("--gpu", chosen->gpu.model, "The GPU to simulate; list prints those known")
      ->type_name("GPU")
      ->capture_default_str();
  app.add_flag("--list-gpus", chosen->list_gpus, "Print the GPUs that can be simulated");
  app.add_option("--memory", chosen->gpu.memory, "Its memory, as 24GiB, instead of the model's")
      ->type_name("SIZE");
  app.add_option("--devices", chosen->gpu.devices, "How many of them")
      ->type_name("N")
      ->check(CLI::Range(0, 16))
      ->capture_default_str();
  add_recording_options(app, chosen->recording);
  app.add_flag("--bare", chosen->bare, "Only simulate, record nothing");
  app.add_flag("--no-report", chosen->no_report, "Only simulate and record");
  app.add_flag("--fast-init", chosen->gpu.fast_init,
               "Leave out the random values of large weights on the CPU, which are zeros then")
      ->envname("MEMTRACE_SIM_FAST_INIT");
  add_value_options(app, chosen->gpu);
  app.add_option("--site-packages", chosen->gpu.site_packages,
                 "Where torch is installed, if the program's Python cannot say")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory);
  return [chosen](const program& command) { return dry_run(command, *chosen); };
}

}  // namespace memtrace::cli
