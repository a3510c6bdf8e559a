// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <CLI/App.hpp>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/base/gpus/gpus.h"
#include "analyzer/base/text/units.h"
#include "analyzer/base/text/utf8.h"
#include "analyzer/cli/commands/arguments.h"
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
    const auto* const gpu = find_gpu(chosen.gpu);
    if (gpu != nullptr) total_bytes = gpu->total_bytes;
    return gpu != nullptr;
  }
  if (!chosen.memory.empty()) {
    total_bytes = size_in("--memory", chosen.memory, "24GiB");
    return total_bytes.has_value();
  }
  return true;
}

// "does not fit Tesla T4 (needs 18.5 GiB of 14.7 GiB); with expandable_segments:True it does"; empty
// where it fits, or where the device is the recorded one.
[[nodiscard]] std::string why_unfit(const what_if::replayed_device& device,
                                    const std::string& wanted) {
  if (device.on_recorded_device || device.options.empty()) return {};
  const auto& as_it_is = device.options.front();
  if (!as_it_is.range.worst.out_of_memory) return {};
  const bool always = as_it_is.range.best.out_of_memory.has_value();
  auto said = fmt::format("{} not fit {}", always ? "does" : "with some addresses, does", wanted);
  if (as_it_is.fits) {
    said += fmt::format(" (needs {} of {})",
                        text::brief_bytes(as_it_is.fits->usable_bytes + device.outside_bytes),
                        text::brief_bytes(device.total_bytes));
  }
  for (const auto& other : device.options) {
    if (other.range.worst.out_of_memory) continue;
    return fmt::format("{}; with {} it does", said, other.alloc_conf);
  }
  return said;
}

// The answer, before the lines by setting.
void print_unfit(const std::vector<what_if::replayed_process>& processes,
                 const replay_options& chosen) {
  const auto* const gpu = chosen.gpu.empty() ? nullptr : gpus::find(chosen.gpu);
  const auto wanted = gpu != nullptr ? std::string(gpu->name) : chosen.memory;
  std::size_t devices = 0;
  for (const auto& process : processes) devices += process.devices.size();
  bool any = false;
  for (const auto& process : processes) {
    for (const auto& device : process.devices) {
      const auto why = why_unfit(device, wanted);
      if (why.empty()) continue;
      any = true;
      const auto which =
          devices == 1 ? std::string()
                       : fmt::format("{}, cuda:{} ", text::printable(process.path), device.index);
      fmt::print("{}{}\n", which, why);
    }
  }
  if (any) fmt::print("\n");
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
    print_unfit(replayed, chosen);
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
      ->type_name("CONF")
      ->allow_extra_args(false);
  app.add_option("--gpu", chosen->gpu, "Replay on a GPU of this model; list prints those known")
      ->type_name("GPU");
  app.add_option("--memory", chosen->memory, "Replay on a GPU with this much memory, as 24GiB")
      ->type_name("SIZE");
  add_json_option(app, chosen->json);
  return [chosen](const program&) { return show(*chosen); };
}

}  // namespace memtrace::cli
