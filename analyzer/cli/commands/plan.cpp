// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/base/gpus/gpus.h"
#include "analyzer/cli/commands/arguments.h"
#include "analyzer/cli/commands/command.h"
#include "analyzer/cli/io/log.h"
#include "analyzer/cli/io/temporary_folder.h"
#include "analyzer/cli/io/write_file.h"
#include "analyzer/cli/launch/dry_run_prober.h"
#include "analyzer/cli/launch/recording.h"
#include "analyzer/cli/launch/server_start.h"
#include "analyzer/plan/serve/cell.h"

namespace memtrace::cli {

namespace {

namespace fs = std::filesystem;
using clock = std::chrono::steady_clock;

struct plan_options {
  std::vector<std::string> gpus;
  std::vector<std::string> vary;
  std::uint64_t requests = 0;
  std::uint64_t tokens = 0;
  std::uint64_t timeout_s = 900;
  std::string budget;
  std::string output;
  std::string json;
  simulated_gpu gpu;
};

// Nothing after one sentence on stderr.
[[nodiscard]] std::optional<serve::request> request_of(const program& command,
                                                       const plan_options& chosen) {
  if (command.empty()) {
    log::error("put the server after --: memtrace plan --gpu h100-80 -- vllm serve ./model");
    return std::nullopt;
  }
  if ((chosen.requests == 0) != (chosen.tokens == 0)) {
    log::error("--requests 32 and --tokens 8192, of each of them, go together");
    return std::nullopt;
  }
  serve::request wanted;
  wanted.command = command;
  wanted.requests = chosen.requests;
  wanted.tokens = chosen.tokens;
  for (const auto& name : chosen.gpus) {
    const auto gpu = gpu_choice_named(name);
    if (!gpu) return std::nullopt;
    wanted.gpus.push_back(*gpu);
  }
  if (!add_variants(chosen.vary, wanted.axes, wanted.variants)) return std::nullopt;
  return wanted;
}

int plan_command(const program& command, const plan_options& chosen) {
  if (chosen.gpus.size() == 1 && chosen.gpus[0] == "list") {
    gpus::print_gpus(stdout);
    return success;
  }
  const auto wanted = request_of(command, chosen);
  if (!wanted) return usage;
  double budget_s = 0;
  if (!chosen.budget.empty()) {
    const auto seconds = seconds_of_budget(chosen.budget);
    if (!seconds) return usage;
    budget_s = *seconds;
  }
  const temporary_folder own;
  const auto parent = chosen.output.empty() ? own.path() : output_folder(chosen.output);
  if (parent.empty()) {
    log::error("no temporary folder can be made; set TMPDIR to one that can be written");
    return failure;
  }
  if (std::error_code error; fs::exists(parent + "/1", error)) {
    log::error("{} holds the starts of another plan: name another directory with -o", parent);
    return failure;
  }
  end_probes_on_signals();
  const auto began = clock::now();
  const auto since = [&] { return std::chrono::duration<double>(clock::now() - began).count(); };
  std::vector<serve::cell> cells;
  server_start starts(*wanted, chosen.gpu, chosen.timeout_s);
  bool all_tried = true;
  for (const auto& gpu : wanted->gpus) {
    for (std::size_t variant = 0; variant < wanted->variants.size(); ++variant) {
      serve::cell one;
      if (was_interrupted() || (budget_s != 0 && since() > budget_s)) {
        one = {.gpu = gpu,
               .variant = variant,
               .came = serve::outcome::stopped,
               .why = was_interrupted() ? "interrupted" : "the budget is used up",
               .said = {},
               .shares = {},
               .folder = {}};
      } else {
        one = starts.run(gpu, variant, fmt::format("{}/{}", parent, cells.size() + 1));
        log::note("{} ({:.0f} s)", serve::one_line(*wanted, one), one.seconds);
      }
      all_tried = all_tried && one.came != serve::outcome::stopped;
      cells.push_back(std::move(one));
    }
  }
  bool written = true;
  if (!chosen.json.empty()) {
    written = write_json(chosen.json, serve::to_json(*wanted, cells, since()));
  }
  if (chosen.json != "-") {
    const auto text =
        serve::show(*wanted, cells, since()).render(::isatty(STDOUT_FILENO) == 1, 200);
    written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && written;
  }
  written = std::fflush(stdout) == 0 && written;
  return written && all_tried ? success : failure;
}

}  // namespace

action add_plan(CLI::App& app) {
  const auto chosen = std::make_shared<plan_options>();
  chosen->gpu.devices = 8;
  chosen->gpu.fast_init = true;
  app.add_option("--gpu", chosen->gpus,
                 "GPUs to start it on: NAME, NAME:SIZE or SIZE, several with commas; list prints "
                 "those known")
      ->type_name("GPU")
      ->delimiter(',')
      ->required();
  add_vary_option(app, chosen->vary);
  app.add_option("--devices", chosen->gpu.devices, "How many GPUs the machine has")
      ->type_name("N")
      ->check(CLI::Range(1, 16))
      ->capture_default_str();
  app.add_option("--requests", chosen->requests,
                 "A load: so many requests at once, of --tokens each; says which start holds it "
                 "with the least GPU memory")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  app.add_option("--tokens", chosen->tokens, "Tokens of each, prompt and answer together")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  app.add_option("--timeout", chosen->timeout_s, "Seconds that a start may take")
      ->type_name("SECONDS")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--budget", chosen->budget, "Begin no start after so long, as 10m")
      ->type_name("TIME");
  app.add_option("-o,--output", chosen->output,
                 "Directory for the traces and what each start writes (default: they are deleted)")
      ->type_name("DIR");
  app.add_option("--site-packages", chosen->gpu.site_packages,
                 "Where torch is installed, if the program's Python cannot say")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory);
  add_json_option(app, chosen->json);
  return [chosen](const program& command) { return plan_command(command, *chosen); };
}

}  // namespace memtrace::cli
