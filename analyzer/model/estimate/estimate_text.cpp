// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/estimate/estimate.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "analyzer/base/text/units.h"

namespace memtrace::estimate {

namespace {

[[nodiscard]] std::string bytes(double number) {
  return text::format_bytes(static_cast<std::uint64_t>(std::llround(number)));
}

[[nodiscard]] std::string heading(const plan& wanted, const estimation& made) {
  auto line = fmt::format("{}{:.4g} M parameters", wanted.model.empty() ? "" : wanted.model + ", ",
                          static_cast<double>(made.parameters) / 1e6);
  if (made.trained != made.parameters) {
    line += fmt::format(", {:.4g} M of them trained", static_cast<double>(made.trained) / 1e6);
  }
  line += fmt::format(", {}, {}", bytes_of(wanted.how).words, wanted.optimizer->name);
  if (wanted.shard != sharding::none) {
    constexpr const char* stages[] = {"", "ZeRO-1", "ZeRO-2", "ZeRO-3 or FSDP"};
    line +=
        fmt::format(", {} over {}", stages[static_cast<std::size_t>(wanted.shard)], wanted.devices);
  }
  if (wanted.sequence != 0) {
    line += fmt::format(", batch {} × {} tokens", wanted.batch, wanted.sequence);
    if (wanted.checkpointing) line += ", checkpointing";
  }
  return line + '\n';
}

// The sources in the order in which the terms name them.
[[nodiscard]] std::vector<source> sources_of(const estimation& made) {
  std::vector<source> used;
  for (const auto& one : made.terms) {
    if (std::find(used.begin(), used.end(), one.from) == used.end()) used.push_back(one.from);
  }
  return used;
}

[[nodiscard]] std::string terms_table(const estimation& made) {
  const auto used = sources_of(made);
  auto text = fmt::format("  {:>11} {:>11} {:>11}\n", "backward", "backward", "optimizer");
  text += fmt::format("  {:>11} {:>11} {:>11}\n", "begins", "ends", "steps");
  const auto row = [&text](const std::array<std::string, 3>& cells) {
    text += fmt::format("  {:>11} {:>11} {:>11}  ", cells[0], cells[1], cells[2]);
  };
  for (const auto& one : made.terms) {
    const auto at = [&one](std::uint8_t moment) {
      return (one.when & moment) != 0 ? bytes(one.bytes) : std::string("-");
    };
    row({at(backward_begins), at(backward_ends), at(optimizer_steps)});
    const auto number = std::find(used.begin(), used.end(), one.from) - used.begin() + 1;
    text += fmt::format("{:<33} {} [{}]\n", one.name, one.formula, number);
  }
  row({bytes(made.begin), bytes(made.end), bytes(made.step)});
  text += fmt::format("in all: {} at the peak\n", bytes(made.peak()));
  for (std::size_t i = 0; i < used.size(); ++i) {
    text += fmt::format("  [{}] {}\n", i + 1, citation(used[i]));
  }
  return text;
}

[[nodiscard]] const char* words_of(fit how) {
  switch (how) {
    case fit::no:
      return "does not fit";
    case fit::tight:
      return "tight: above the target";
    case fit::on_target:
      return "fits, on target";
    case fit::room:
      return "fits, with room to spare";
  }
  return "";
}

[[nodiscard]] std::string gpu_table(const plan& wanted, const std::vector<gpu_fit>& fits) {
  const bool batches = wanted.shape && wanted.sequence != 0;
  auto text = fmt::format("\n  {:<10} {:>11} {:>7}  {:<25}", "GPU", "memory", "used", "");
  text += batches ? fmt::format("{:>14} {:>14}\n", "batch to 85 %", "to 100 %") : "\n";
  for (const auto& one : fits) {
    text += fmt::format("  {:<10} {:>11} {:>5.0f} %  {:<25}", one.gpu,
                        text::format_bytes(one.total_bytes), 100 * one.used, words_of(one.how));
    text +=
        batches ? fmt::format("{:>14} {:>14}\n", one.largest_batch, one.batch_at_the_end) : "\n";
  }
  return text +
         "  target: 70 to 85 % of the GPU's memory. An estimate, not a measurement: "
         "memtrace dry-run runs the program itself.\n";
}

}  // namespace

std::string to_text(const plan& wanted, const estimation& made, const std::vector<gpu_fit>& fits) {
  return heading(wanted, made) + terms_table(made) + gpu_table(wanted, fits);
}

}  // namespace memtrace::estimate
