// SPDX-License-Identifier: Apache-2.0
#include <CLI/App.hpp>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/base/gpus/gpus.h"
#include "analyzer/base/text/units.h"
#include "analyzer/cli/commands/command.h"
#include "analyzer/cli/io/log.h"
#include "analyzer/cli/io/open_trace.h"
#include "analyzer/cli/io/show_report.h"
#include "analyzer/cli/io/write_file.h"
#include "analyzer/show/what_if/runs.h"

namespace memtrace::cli {

namespace {

struct replay_options {
  std::vector<std::string> traces;
  std::vector<std::string> alloc_confs;
  std::string gpu;
  std::string memory;
  std::string json;
};

// The device to replay on; false after one sentence on stderr.
[[nodiscard]] bool choose_device(const replay_options& chosen,
                                 std::optional<std::uint64_t>& total_bytes) {
  if (!chosen.gpu.empty() && !chosen.memory.empty()) {
    log::error("give --gpu or --memory, not both: each says how much there is");
    return false;
  }
  if (!chosen.gpu.empty()) {
    if (const auto* const gpu = gpus::find(chosen.gpu)) {
      total_bytes = gpu->total_bytes;
      return true;
    }
    log::error("{}", gpus::unknown_gpu_sentence(chosen.gpu));
    return false;
  }
  if (!chosen.memory.empty()) {
    total_bytes = text::parse_size(chosen.memory);
    if (total_bytes) return true;
    log::error("--memory {} is no size; write bytes, or 24GiB", chosen.memory);
    return false;
  }
  return true;
}

int show(const replay_options& chosen) {
  if (chosen.gpu == "list") {
    gpus::print_gpus(stdout);
    return success;
  }
  if (chosen.traces.empty()) {
    log::error("name a trace to replay, or a directory with traces");
    return usage;
  }
  what_if::replay_wishes wanted;
  wanted.alloc_confs = chosen.alloc_confs;
  if (!choose_device(chosen, wanted.total_bytes)) return usage;
  const auto paths = find_newest(chosen.traces);
  if (!paths) return failure;
  std::vector<what_if::replayed_process> replayed;
  const bool complete = each_trace(*paths, [&](const std::string& path, trace::reader& reader) {
    auto one = what_if::replay_trace(path, reader, wanted, show_progress(path));
    auto wrong = sentences_of(one.completeness);
    if (one.refusal.empty()) {
      replayed.push_back(std::move(one));
    } else {
      wrong.push_back(std::move(one.refusal));
    }
    return wrong;
  });
  if (replayed.empty()) return failure;
  bool written = true;
  if (!chosen.json.empty()) written = write_json(chosen.json, what_if::to_json(replayed));
  if (chosen.json != "-") {
    print_replay(replayed, stdout);
    written = std::fflush(stdout) == 0 && written;
  }
  return complete && written ? success : failure;
}

}  // namespace

action add_replay(CLI::App& app) {
  const auto chosen = std::make_shared<replay_options>();
  app.add_option("TRACE", chosen->traces, "Traces, or directories: the newest run of each");
  app.add_option("--alloc-conf", chosen->alloc_confs,
                 "Options to try, as in PYTORCH_CUDA_ALLOC_CONF; may be given several times "
                 "(default: the usual ones)")
      ->allow_extra_args(false);
  app.add_option("--gpu", chosen->gpu, "Replay on a GPU of this model; list prints those known");
  app.add_option("--memory", chosen->memory, "Replay on a GPU with this much memory, as 24GiB");
  app.add_option("--json", chosen->json, "Also write it as JSON; - for standard output");
  return [chosen](const program&) { return show(*chosen); };
}

}  // namespace memtrace::cli
