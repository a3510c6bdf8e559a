// SPDX-License-Identifier: Apache-2.0
#include <CLI/App.hpp>
#include <cstdio>
#include <memory>
#include <optional>
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
  bool names_devices = false;
  bool names_ranks = false;
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
  if (chosen.names_ranks && chosen.gpu.job.size == 0) {
    log::error("--ranks takes ranks of a world: say how many it has, as in --world-size 512");
    return usage;
  }
  choose_devices(chosen.gpu, chosen.names_devices);
  std::optional<child_end> end;
  bool found_torch = false;
  {
    // What it left goes before this process may die by the program's signal.
    const auto simulated = simulate(command, chosen.gpu, chosen.recording);
    if (!simulated) return failure;
    chosen.recording.record = !chosen.bare;
    chosen.recording.report = !chosen.no_report;
    end = record_and_report(command, chosen.recording);
    found_torch = simulated->found_torch;
  }
  const bool failed = end && (!end->started || end->exit_status != 0 || end->signal != 0);
  if (failed && !found_torch) {
    log::note(
        "the simulated GPU was made without a PyTorch, because the Python that "
        "the command names has none; if the program uses another one, name its packages "
        "with --site-packages DIR");
  }
  return end ? end_like(*end, command.front()) : static_cast<int>(failure);
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
  const auto* const devices = app.add_option("--devices", chosen->gpu.devices, "How many of them")
                                  ->type_name("N")
                                  ->check(CLI::Range(0, 16))
                                  ->capture_default_str();
  app.add_option("--world-size", chosen->gpu.job.size,
                 "Run ranks of a job of so many GPUs, 8 to a node or as --devices says, without "
                 "torchrun")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 20));
  const auto* const ranks = app.add_option("--ranks", chosen->gpu.job.ranks,
                                           "Those of its ranks that are run; the others are played")
                                ->type_name("LIST")
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
  return [chosen, devices, ranks](const program& command) {
    chosen->names_devices = devices->count() > 0;
    chosen->names_ranks = ranks->count() > 0;
    return dry_run(command, *chosen);
  };
}

}  // namespace memtrace::cli
