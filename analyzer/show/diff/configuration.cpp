// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/diff/configuration.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <map>

#include "analyzer/base/text/units.h"
#include "analyzer/run/model/module_tree.h"

namespace memtrace::diff {

namespace {

using facts = std::vector<std::pair<std::string, std::string>>;  // name, value

void add_changes(std::vector<changed_fact>& out, const char* group, const facts& before,
                 const facts& after) {
  const auto value_in = [](const facts& list, const std::string& name) {
    const auto found = std::ranges::find(list, name, &std::pair<std::string, std::string>::first);
    return found == list.end() ? std::string() : found->second;
  };
  const auto known = [&](const facts& list, const std::string& name) {
    return std::ranges::any_of(list, [&](const auto& one) { return one.first == name; });
  };
  for (const auto& [name, value] : before) {
    const auto now = value_in(after, name);
    if (now != value || !known(after, name)) out.push_back({group, name, value, now});
  }
  for (const auto& [name, value] : after) {
    if (!known(before, name)) out.push_back({group, name, {}, value});
  }
}

[[nodiscard]] facts versions_of(const run::process_report& process) {
  return {{"PyTorch", process.run.torch},
          {"CUDA runtime", process.run.cuda},
          {"Python", process.run.python}};
}

[[nodiscard]] facts gpus_of(const run::process_report& process) {
  facts list;
  for (const auto& device : process.devices) {
    const auto name = fmt::format("cuda:{}", device.facts.device);
    list.emplace_back(name, device.name);
    if (device.facts.total_bytes == 0) continue;
    list.emplace_back(name + " memory", text::format_bytes(device.facts.total_bytes));
  }
  list.emplace_back("simulated", process.run.simulated_gpu.empty() ? "no" : "yes");
  return list;
}

// GPT.h.*, Head
[[nodiscard]] std::string names_of(const std::vector<attribution::checkpointed_module>& modules) {
  std::map<std::string, std::size_t> names;
  for (const auto& one : modules) {
    ++names[one.path.empty() ? one.root : one.root + "." + run::without_numbers(one.path)];
  }
  std::string out;
  for (const auto& [name, count] : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

[[nodiscard]] std::string optimizers_of(const run::process_report& process) {
  std::string out;
  for (const auto& one : process.optimizers) out += (out.empty() ? "" : ", ") + one.name;
  return out;
}

// The model's inputs at the highest moment: they grow as the batch does.
[[nodiscard]] std::string inputs_of(const run::process_report& process) {
  std::uint64_t bytes = 0;
  for (const auto& device : process.devices) {
    for (const auto& row : device.at_peak.categories) {
      if (row.what == attribution::category::inputs) bytes = std::max(bytes, row.bytes);
    }
  }
  return bytes == 0 ? std::string() : text::format_bytes(bytes);
}

[[nodiscard]] facts training_of(const run::process_report& process) {
  const auto& training = process.training;
  facts list = {{"autocast", training.autocast ? "on" : "off"},
                {"optimizer", optimizers_of(process)},
                {"checkpointed modules", names_of(training.checkpointed)},
                {"inputs at the peak", inputs_of(process)}};
  if (training.parameters == 0) return list;
  list.emplace_back("parameters",
                    fmt::format("{} in {} tensors", text::format_bytes(training.parameter_bytes),
                                text::format_count(training.parameters)));
  list.emplace_back("trainable", text::format_bytes(training.trainable_bytes));
  return list;
}

// A report can say only what was recorded.
[[nodiscard]] facts recording_of(const run::process_report& process) {
  const auto& recording = process.run.recording;
  return {{"MEMTRACE", recording ? recording->mode : std::string()},
          {"Python stacks", process.run.python_stacks},
          {"events from", process.run.event_source},
          {"agent", process.run.agent},
          {"autograd", process.run.autograd}};
}

}  // namespace

std::vector<changed_fact> compare_configuration(const run::process_report& before,
                                                const run::process_report& after) {
  auto changed = compare_commands(before.run.command, after.run.command);
  add_changes(changed, "version", versions_of(before), versions_of(after));
  add_changes(changed, "gpu", gpus_of(before), gpus_of(after));
  add_changes(changed, "allocator", {{"settings", before.run.alloc_conf}},
              {{"settings", after.run.alloc_conf}});
  add_changes(changed, "environment", before.run.environment, after.run.environment);
  add_changes(changed, "training", training_of(before), training_of(after));
  add_changes(changed, "recording", recording_of(before), recording_of(after));
  return changed;
}

}  // namespace memtrace::diff
