// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analyzer/base/gpus/gpus.h"
#include "analyzer/base/text/numbers.h"
#include "analyzer/base/text/units.h"
#include "analyzer/cli/commands/arguments.h"
#include "analyzer/cli/commands/command.h"
#include "analyzer/cli/io/log.h"
#include "analyzer/cli/io/write_file.h"
#include "analyzer/cli/launch/dry_run_prober.h"
#include "analyzer/cli/launch/probe_store.h"
#include "analyzer/cli/launch/recording.h"
#include "analyzer/model/allocator/side_by_side.h"
#include "analyzer/plan/fit/launch.h"
#include "analyzer/plan/fit/plan.h"
#include "analyzer/plan/fit/show.h"
#include "analyzer/plan/fit/side_prober.h"

namespace memtrace::cli {

namespace {

struct fit_options {
  std::vector<std::string> gpus;
  std::string batch;
  std::string sequence;
  std::vector<std::uint64_t> sequences;
  std::string json;
  std::string html;
  bool force = false;
  std::string evaluation;
  std::string generation;
  std::string accumulate;
  std::uint64_t effective = 0;
  std::vector<std::string> vary;
  std::string cache;
  bool no_cache = false;
  std::string budget;
  std::string margin = "512MiB";
  bool no_advice = false;
  std::size_t jobs = 0;
  fit::batch_range range;
  probe_options probes;

  // Beside the command, the options on which the outcome of a dry run depends.
  [[nodiscard]] std::vector<std::string> deciding() const {
    std::vector<std::string> words{batch,
                                   sequence,
                                   evaluation,
                                   generation,
                                   accumulate,
                                   std::to_string(effective),
                                   std::to_string(probes.gpu.devices),
                                   std::to_string(probes.gpu.job.size),
                                   probes.gpu.job.size == 0 ? "" : probes.gpu.job.ranks,
                                   std::to_string(probes.steps),
                                   probes.whole ? "whole" : "",
                                   probes.gpu.fast_init ? "" : "real init",
                                   probes.gpu.routing,
                                   probes.gpu.masks,
                                   std::to_string(probes.timeout_s)};
    words.insert(words.end(), vary.begin(), vary.end());
    return words;
  }
};

constexpr std::uint64_t most_kept_bytes = std::uint64_t{4} << 30;

[[nodiscard]] std::optional<fit::value_place> place_of(const std::string& text,
                                                       const std::string& option) {
  auto parsed = fit::value_place::parse(text, option);
  if (auto* const wrong = std::get_if<fit::complaint>(&parsed)) {
    log::error("{}", wrong->sentence);
    return std::nullopt;
  }
  return std::get<fit::value_place>(std::move(parsed));
}

// Nothing after one sentence on stderr.
[[nodiscard]] std::optional<fit::value_places> places_of(const fit_options& chosen) {
  auto batch = place_of(chosen.batch, "--batch");
  if (!batch) return std::nullopt;
  fit::value_places made{std::move(*batch),
                         {},
                         {},
                         {},
                         {},
                         chosen.effective,
                         std::max(chosen.probes.gpu.devices, chosen.probes.gpu.job.size)};
  if (!chosen.sequence.empty() && !(made.sequence = place_of(chosen.sequence, "--sequence"))) {
    return std::nullopt;
  }
  if (!chosen.evaluation.empty() &&
      !(made.evaluation = place_of(chosen.evaluation, "--eval-batch"))) {
    return std::nullopt;
  }
  if (!chosen.generation.empty() &&
      !(made.generation = place_of(chosen.generation, "--generation-batch"))) {
    return std::nullopt;
  }
  if (chosen.accumulate.empty() != (chosen.effective == 0)) {
    log::error("--accumulate '--gradient-accumulation-steps {{}}' and --effective 64 go together");
    return std::nullopt;
  }
  if (!chosen.accumulate.empty() &&
      !(made.accumulation = place_of(chosen.accumulate, "--accumulate"))) {
    return std::nullopt;
  }
  return made;
}

void tell(const fit::probe& ran, const fit::gpu_choice*) {
  const auto* const device = ran.fullest();
  const auto size = ran.of.total_bytes == fit::endless_bytes
                        ? std::string("without limit")
                        : text::format_bytes(ran.of.total_bytes);
  std::string came = "fits";
  if (ran.came == fit::verdict::ran_out)
    came = ran.caught ? "runs out, and catches it" : "runs out";
  if (ran.came == fit::verdict::failed) came = "fails";
  if (ran.came == fit::verdict::timed_out) came = "takes too long";
  const auto of = ran.of.what == fit::batch_of::training
                      ? fmt::format("batch {}", ran.of.batch)
                      : fmt::format("{} with {} beside training with {}", fit::name_of(ran.of.what),
                                    ran.of.batch, ran.of.training_batch);
  log::note("{} {}{}, {}: {}, {} reserved, {} steps, {:.1f} s", ran.of.model, size,
            ran.of.sequence ? fmt::format(", length {}", *ran.of.sequence) : "", of, came,
            device == nullptr ? "nothing" : text::format_bytes(device->peak_reserved), ran.steps,
            ran.seconds);
}

// Says what a run did as soon as it is over.
class telling_prober final : public fit::prober {
 public:
  explicit telling_prober(fit::prober& runs) : runs_(runs) {}
  [[nodiscard]] fit::probe run(const fit::trial& wanted) override {
    auto ran = runs_.run(wanted);
    if (ran.came != fit::verdict::stopped) tell(ran, nullptr);
    return ran;
  }

 private:
  fit::prober& runs_;
};

int fit_command(const program& command, const fit_options& chosen) {
  if (chosen.gpus.size() == 1 && chosen.gpus[0] == "list") {
    gpus::print_gpus(stdout);
    return success;
  }
  if (command.empty() || chosen.batch.empty()) {
    log::error(
        "say where the batch goes and put the program after --: memtrace fit --gpu rtx3090 --batch "
        "'--batch-size {{}}' -- python train.py");
    return usage;
  }
  double budget_s = 0;
  if (!chosen.budget.empty()) {
    const auto seconds = seconds_of_budget(chosen.budget);
    if (!seconds) return usage;
    budget_s = *seconds;
  }
  fit::wishes wanted;
  wanted.command = command;
  const auto margin = size_in("--margin", chosen.margin, "512MiB");
  if (!margin) return usage;
  wanted.margin_bytes = *margin;
  wanted.explains = !chosen.no_advice;
  wanted.range = chosen.range;
  for (const auto& name : chosen.gpus) {
    const auto gpu = gpu_choice_named(name);
    if (!gpu) return usage;
    wanted.gpus.push_back(*gpu);
  }
  const auto places = places_of(chosen);
  if (!places) return usage;
  if (places->evaluation) wanted.others.push_back(fit::batch_of::evaluation);
  if (places->generation) wanted.others.push_back(fit::batch_of::generation);
  if (!add_variants(chosen.vary, wanted.axes, wanted.variants)) return usage;
  if (chosen.sequence.empty() != chosen.sequences.empty()) {
    log::error("--sequence '--max-length {{}}' and --sequences 128,512 go together");
    return usage;
  }
  if (!chosen.sequences.empty()) {
    wanted.sequences.assign(chosen.sequences.begin(), chosen.sequences.end());
  }
  if (wanted.range.most < wanted.range.step) {
    log::error("--max-batch {} is below --multiple {}", wanted.range.most, wanted.range.step);
    return usage;
  }
  const auto parent = chosen.no_cache        ? std::string()
                      : chosen.cache.empty() ? default_store()
                                             : output_folder(chosen.cache);
  if (!may_write(chosen.html, chosen.force)) return failure;
  prune_store(parent, most_kept_bytes);
  const probe_store folder(parent, identity_of(command, chosen.deciding()));
  if (folder.path().empty()) {
    log::error("no temporary folder can be made; set TMPDIR to one that can be written");
    return failure;
  }
  if (!folder.why_temporary().empty()) {
    log::note("dry runs are not kept: {}", folder.why_temporary());
  }
  end_probes_on_signals();
  dry_run_prober dry_runs(wanted, *places, chosen.probes, folder.path());
  telling_prober told(dry_runs);
  // Programs of several ranks meet at a port, which is the same in every dry run.
  const bool by_torchrun = chosen.probes.gpu.devices > 1 && chosen.probes.gpu.job.size == 0;
  const auto jobs = by_torchrun ? 1 : allocator::job_limit();
  fit::side_prober runs(told, chosen.jobs != 0 ? chosen.jobs : jobs);
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(budget_s);
  const auto made = fit::make_plan(
      wanted, runs,
      [&] {
        return !was_interrupted() && (budget_s == 0 || std::chrono::steady_clock::now() < until);
      },
      [&](const fit::row& one) { log::note("{}", fit::one_line(wanted, one)); });
  dry_runs.cancel();
  bool written = true;
  if (!chosen.html.empty()) written = write_page(chosen.html, fit::to_html(wanted, made));
  if (!chosen.json.empty())
    written = write_json(chosen.json, fit::to_json(wanted, made, dry_runs.runs())) && written;
  if (chosen.json != "-") {
    const auto text = fit::show(wanted, made).render(::isatty(STDOUT_FILENO) == 1, 200);
    written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && written;
  }
  written = std::fflush(stdout) == 0 && written;
  bool all = true;
  for (const auto& one : made.rows) {
    all = all && one.found.verified;
    if (one.found.trouble && !one.found.trouble->output.empty()) {
      log::error("its last lines:");
      std::fprintf(stderr, "%s\n", one.found.trouble->output.c_str());
    }
  }
  return written && all ? success : failure;
}

}  // namespace

action add_fit(CLI::App& app) {
  const auto chosen = std::make_shared<fit_options>();
  chosen->probes.gpu.fast_init = true;
  app.add_option("--gpu", chosen->gpus,
                 "GPUs to fit on: NAME, NAME:SIZE or SIZE, several with commas; list prints those "
                 "known")
      ->type_name("GPU")
      ->delimiter(',')
      ->required();
  app.add_option("--batch", chosen->batch,
                 "Where the batch goes: '--batch-size {}', 'env:NAME={}', 'FILE.yaml:key={}'")
      ->type_name("PLACE");
  app.add_option("--sequence", chosen->sequence, "Where the length goes: '--max-length {}'")
      ->type_name("PLACE");
  app.add_option("--sequences", chosen->sequences, "The lengths: 128,512")
      ->type_name("N")
      ->delimiter(',');
  app.add_option("--eval-batch", chosen->evaluation,
                 "Where evaluation's own batch goes: looked for beside the largest training batch, "
                 "by whole runs")
      ->type_name("PLACE");
  app.add_option("--generation-batch", chosen->generation, "The same of generation's")
      ->type_name("PLACE");
  app.add_option("--accumulate", chosen->accumulate,
                 "Where the accumulation goes that keeps --effective: "
                 "'--gradient-accumulation-steps {}'")
      ->type_name("PLACE");
  app.add_option("--effective", chosen->effective, "The batch of one optimizer step, over all GPUs")
      ->type_name("N");
  add_vary_option(app, chosen->vary);
  app.add_option("--max-batch", chosen->range.most, "The largest batch to look at")
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--multiple", chosen->range.step, "Only multiples of it, as 8")
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  const auto* const devices =
      app.add_option("--devices", chosen->probes.gpu.devices, "How many GPUs the program has")
          ->type_name("N")
          ->check(CLI::Range(1, 16))
          ->capture_default_str();
  app.add_option("--world-size", chosen->probes.gpu.job.size,
                 "Try one rank of a job of so many GPUs, without torchrun: docs/ranks.md")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 20));
  chosen->probes.gpu.job.ranks = "0";
  app.add_option("--rank", chosen->probes.gpu.job.ranks, "Which: a number, or last")
      ->type_name("RANK")
      ->needs("--world-size")
      ->capture_default_str();
  app.add_option("--steps", chosen->probes.steps,
                 "End each dry run after so many steps (default: when its peaks have settled)")
      ->type_name("N");
  app.add_flag("--whole", chosen->probes.whole, "Let each dry run go on to its end");
  add_value_options(app, chosen->probes.gpu);
  app.add_flag("--real-init{false}", chosen->probes.gpu.fast_init,
               "Give large weights on the CPU their random values, which dry runs leave out");
  app.add_option("--timeout", chosen->probes.timeout_s, "Seconds that a dry run may take")
      ->type_name("SECONDS")
      ->capture_default_str();
  app.add_option("--jobs", chosen->jobs,
                 "Dry runs at a time (default: the cores; with several GPUs 1)")
      ->type_name("N");
  app.add_option("--margin", chosen->margin, "What a real GPU may have less, as 512MiB")
      ->type_name("SIZE")
      ->capture_default_str();
  app.add_flag("--no-advice", chosen->no_advice, "Do not say what binds, nor what to change");
  app.add_option("--budget", chosen->budget, "Begin no dry run after so long, as 10m")
      ->type_name("TIME");
  app.add_option(
         "--cache", chosen->cache,
         "Directory where dry runs are kept, to go on from (default: ~/.cache/memtrace/fit)")
      ->type_name("DIR");
  app.add_flag("--no-cache", chosen->no_cache, "Keep none, and use none that are kept");
  app.add_option("--site-packages", chosen->probes.gpu.site_packages,
                 "Where torch is installed, if the program's Python cannot say")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory);
  auto* const html =
      add_page_option(app, chosen->html, "Also write it as a page, the grid as a heat map");
  app.add_flag("--force", chosen->force, "Replace the page if it is there already")->needs(html);
  add_json_option(app, chosen->json);
  return [chosen, devices](const program& command) {
    choose_devices(chosen->probes.gpu, devices->count() > 0);
    return fit_command(command, *chosen);
  };
}

}  // namespace memtrace::cli
