// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/launch/dry_run_prober.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>

#include "analyzer/base/text/units.h"
#include "analyzer/cli/io/log.h"
#include "analyzer/cli/launch/background_dry_run.h"
#include "analyzer/cli/launch/child_process.h"
#include "analyzer/cli/launch/simulation.h"
#include "analyzer/plan/fit/trace_watch.h"
#include "analyzer/plan/fit/trial.h"

namespace memtrace::cli {

namespace {

namespace fs = std::filesystem;
using clock = std::chrono::steady_clock;

constexpr auto between_looks = std::chrono::milliseconds(50);
// For what a program does once memory has run out: to end, or to go on.
constexpr auto after_refusal = std::chrono::seconds(20);

volatile std::sig_atomic_t interrupted = 0;

void note_signal(int) {
  interrupted = 1;
}

[[nodiscard]] std::string tail_of(const std::string& path) {
  constexpr std::streamoff most = 6000;
  constexpr std::size_t most_lines = 12;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file.tellg();
  file.seekg(std::max<std::streamoff>(0, size - most));
  std::string text((std::istreambuf_iterator<char>(file)), {});
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  std::size_t at = text.size();
  for (std::size_t lines = 0; lines < most_lines && at != 0; ++lines) {
    const auto before = text.rfind('\n', at - 1);
    at = before == text.npos ? 0 : before;
  }
  return text.substr(at == 0 ? 0 : at + 1);
}

[[nodiscard]] std::string ended_badly(const child_end& end, const fit::trial& of) {
  if (end.signal == SIGKILL) {
    return fmt::format(
        "the program was killed at batch {}, by signal 9: the host's memory may have run out; "
        "leave less running beside it, or --jobs 1",
        of.batch);
  }
  if (end.signal != 0) {
    return fmt::format("the program died at batch {} of signal {} ({})", of.batch, end.signal,
                       ::strsignal(end.signal));
  }
  return fmt::format(
      "the program ended with status {} at batch {}, and not for want of GPU memory; see that it "
      "gets through a dry run: memtrace dry-run -- COMMAND",
      end.exit_status, of.batch);
}

}  // namespace

void end_probes_on_signals() {
  struct sigaction how {};
  how.sa_handler = note_signal;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(number, &how, nullptr);
}

bool was_interrupted() {
  return interrupted != 0;
}

dry_run_prober::dry_run_prober(const fit::wishes& wanted, const fit::value_places& places,
                               probe_options options, std::string folder)
    : wanted_(wanted), places_(places), options_(std::move(options)), folder_(std::move(folder)) {}

fit::probe dry_run_prober::run(const fit::trial& wanted) {
  if (auto known = remembered(wanted)) return std::move(*known);
  fit::probe made;
  made.of = wanted;
  made.folder = folder_of(wanted);
  const auto fail = [&](std::string why) {
    made.came = fit::verdict::failed;
    made.why = std::move(why);
    return made;
  };
  std::error_code failed;
  fs::remove_all(made.folder, failed);  // of a run that was cut short
  fs::create_directories(made.folder, failed);
  if (failed) return fail(fmt::format("{}: {}", made.folder, failed.message()));
  ++made_;

  auto placed = fit::launch_of(wanted_, places_, wanted, made.folder);
  if (const auto* const wrong = std::get_if<fit::complaint>(&placed)) return fail(wrong->sentence);
  const auto& start = std::get<fit::launch>(placed);

  simulated_gpu gpu = options_.gpu;
  gpu.model = wanted.model;
  gpu.memory = std::to_string(wanted.total_bytes);
  auto begun = background_dry_run::start(start, gpu, made.folder);
  if (auto* const wrong = std::get_if<fit::complaint>(&begun)) return fail(wrong->sentence);
  auto& runs_now = *std::get<std::unique_ptr<background_dry_run>>(begun);
  const auto began = clock::now();
  fit::trace_watch traces(runs_now.traces());
  std::optional<child_end> end;
  std::optional<clock::time_point> refused_at;
  bool timed_out = false;
  // Evaluation and generation come after training.
  const bool whole = options_.whole || wanted.what != fit::batch_of::training;
  while (true) {
    end = runs_now.look();
    traces.poll();
    if (end) break;
    if (was_interrupted() || cancelled_) {
      made.came = fit::verdict::stopped;
      made.why = "interrupted; the same command goes on from here";
      runs_now.end();
      return made;
    }
    const auto now = clock::now();
    if (traces.ran_out()) {
      if (!refused_at) refused_at = now;
      if (now - *refused_at > after_refusal || traces.steps_after() > 0) break;
    } else if (!whole) {
      const bool enough =
          options_.steps != 0 ? traces.steps() >= options_.steps : traces.is_settled();
      if (enough) {
        made.stopped_early = true;
        break;
      }
    }
    if (now - began > std::chrono::seconds(options_.timeout_s)) {
      timed_out = true;
      break;
    }
    std::this_thread::sleep_for(between_looks);
  }
  runs_now.end();
  traces.finish(made);
  made.seconds = std::chrono::duration<double>(clock::now() - began).count();
  made.output = tail_of(runs_now.output());
  made.reads_of_zeros = fit::reads_of_zeros(made.output);
  made.steps_asked = options_.steps;
  judge(made, end, timed_out);
  keep(made);
  return made;
}

void dry_run_prober::judge(fit::probe& made, const std::optional<child_end>& end,
                           bool timed_out) const {
  const bool ended_well = !end || (end->exit_status == 0 && end->signal == 0);
  if (made.refused) {
    made.came = fit::verdict::ran_out;
    made.caught = made.caught || (end && ended_well);
  } else if (timed_out) {
    made.came = fit::verdict::timed_out;
    made.why = fmt::format(
        "the program had not come to rest after {} s at batch {} ({} steps): give it more time "
        "with "
        "--timeout, fewer steps with an option of its own, or --steps N to judge it after N steps",
        options_.timeout_s, made.of.batch, made.steps);
  } else if (ended_well) {
    made.came = fit::verdict::fits;
  } else if (tells_of_memory(made.output)) {
    made.came = fit::verdict::ran_out;
  } else {
    made.came = fit::verdict::failed;
    made.why = ended_badly(*end, made.of) + fit::zeros_as_a_reason(made.reads_of_zeros);
  }
}

std::string dry_run_prober::folder_of(const fit::trial& wanted) const {
  auto name = fmt::format("{}-{}-batch-{}", wanted.model, wanted.total_bytes, wanted.batch);
  if (wanted.sequence) name += fmt::format("-length-{}", *wanted.sequence);
  if (wanted.what != fit::batch_of::training) {
    name += fmt::format("-{}-beside-{}", fit::name_of(wanted.what), wanted.training_batch);
  }
  if (wanted.variant != 0) name += fmt::format("-variant-{}", wanted.variant);
  return folder_ + "/" + name;
}

std::optional<fit::probe> dry_run_prober::remembered(const fit::trial& wanted) const {
  const auto folder = folder_of(wanted);
  std::ifstream file(folder + "/probe.json", std::ios::binary);
  if (!file) return std::nullopt;
  auto known = fit::probe_in(std::string((std::istreambuf_iterator<char>(file)), {}), wanted);
  if (!known) return std::nullopt;
  known->folder = folder;
  known->reads_of_zeros = fit::reads_of_zeros(known->output);
  known->steps_asked = options_.steps;
  fit::trace_watch(folder).finish(*known);
  return known;
}

// A run that failed is tried again the next time.
void dry_run_prober::keep(const fit::probe& ran) const {
  if (ran.came != fit::verdict::fits && ran.came != fit::verdict::ran_out) return;
  const auto path = ran.folder + "/probe.json";
  std::ofstream file(path + ".new", std::ios::binary);
  file << fit::to_text(ran);
  file.close();
  std::error_code failed;
  if (file) fs::rename(path + ".new", path, failed);
}

}  // namespace memtrace::cli
