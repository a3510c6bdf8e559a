// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/expected.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "analyzer/estimate/fit.h"
#include "analyzer/report/units.h"

namespace memtrace::report {

namespace {

[[nodiscard]] std::uint64_t bytes_in(const memory_view& view, category what) {
  const auto row = std::ranges::find(view.categories, what, &category_row::what);
  return row == view.categories.end() ? 0 : row->bytes;
}

[[nodiscard]] std::uint64_t casts_in(const memory_view& view) {
  std::uint64_t bytes = 0;
  for (const auto& row : view.categories) bytes += row.autocast_copies;
  return bytes;
}

// "torch.bfloat16" → 2; what is not known counts as 4.
[[nodiscard]] std::uint8_t element_bytes(std::string_view dtype) {
  if (dtype.ends_with("float64") || dtype.ends_with("int64")) return 8;
  if (dtype.ends_with("float16")) return 2;
  if (dtype.ends_with("int8") || dtype.find("float8") != dtype.npos) return 1;
  return 4;
}

[[nodiscard]] const estimate::step_share* share_of(const process_report& process,
                                                   std::uint32_t device) {
  const auto found = std::ranges::find(process.step_shares, device, &estimate::step_share::device);
  return found == process.step_shares.end() ? nullptr : &*found;
}

// The most of each category at any phase's peak: gradients are not there when activations are.
void read_phases(const device_report& device, estimate::measured_run& run) {
  const auto look = [&run](const memory_view& view, std::optional<phase> when) {
    const auto most = [](std::uint64_t& so_far, std::uint64_t bytes) {
      so_far = std::max(so_far, bytes);
    };
    const auto casts = casts_in(view);
    most(run.weight_casts, casts);
    most(run.weights, bytes_in(view, category::weights));
    most(run.gradients, bytes_in(view, category::gradients));
    most(run.optimizer_states, bytes_in(view, category::optimizer_states));
    most(run.workspace, bytes_in(view, category::workspace));
    const auto activations = bytes_in(view, category::activations);
    most(run.activations, activations - std::min(casts, activations));
    if (when == phase::optimizer) {
      most(run.step_temporaries, bytes_in(view, category::temporaries));
    }
  };
  look(device.at_peak, std::nullopt);
  for (const auto& one : device.phases) {
    if (one.which != phase::setup) look(one.at_peak, one.which);
  }
}

[[nodiscard]] estimate::measured_run measure(const process_report& process,
                                             const device_report& device) {
  estimate::measured_run run;
  for (const auto& row : device.parameters) {
    run.parameters.push_back({row.weights, element_bytes(row.dtype), row.trainable});
  }
  for (const auto& one : process.optimizers) run.optimizers.push_back(one.name);
  run.autocast = process.training.autocast;
  constexpr std::uint64_t hopper = 9;
  run.hopper = device.facts.compute_major >= hopper;
  read_phases(device, run);
  const auto& top = device.peak_reserved.totals;
  run.cached = top.reserved - std::min(top.allocated, top.reserved);
  run.peak = device.peak_allocated.totals.allocated;
  if (const auto* const share = share_of(process, device.facts.device)) {
    run.unused_copies = share->unused_copies;
    run.expected_activations = share->expected_activations;
    run.activations_formula = share->activations_formula;
  }
  return run;
}

[[nodiscard]] std::string difference_of(const estimate::expected_term& term) {
  if (!term.expected) return "";
  if (*term.expected == 0) return term.measured == 0 ? "equal" : "";
  const auto expected = static_cast<double>(*term.expected);
  return fmt::format("{:+.1f} %", 100 * (static_cast<double>(term.measured) - expected) / expected);
}

void add_room(page& out, const gpu_room& room) {
  const auto share = static_cast<double>(room.used) / static_cast<double>(room.capacity);
  auto line = fmt::format("  {:.0f} % of the GPU is used (target 70 to 85 %)", 100 * share);
  if (room.batch_factor) {
    line += fmt::format("; up to 85 %: {:.2f} times this run's batch", *room.batch_factor);
  }
  out.line(line);
}

void add_host_room(page& out, const process_report& process) {
  const auto& host = process.host;
  if (!host.limit || *host.limit == 0 || host.limit_used.peak() == 0) return;
  out.line(fmt::format(
      "  {:.0f} % of the host's limit of {} is used (target at most 80 %)",
      100.0 * static_cast<double>(host.limit_used.peak()) / static_cast<double>(*host.limit),
      format_bytes(*host.limit)));
}

}  // namespace

std::vector<estimate::expected_term> expected_terms(const process_report& process,
                                                    const device_report& device) {
  if (device.from_cuda_calls) return {};
  return estimate::expect(measure(process, device));
}

std::optional<gpu_room> room_of(const process_report& process, const device_report& device) {
  if (device.facts.total_bytes == 0 || device.from_cuda_calls) return std::nullopt;
  gpu_room room;
  room.capacity = device.facts.total_bytes;
  const auto reserved = device.peak_reserved.totals.reserved;
  room.used = reserved;
  for (const auto& holder : device.outside) room.used += holder.bytes;
  const auto* const share = share_of(process, device.facts.device);
  const auto allocated = device.peak_allocated.totals.allocated;
  // A peak that is mostly weights and states (the optimizer's step) says nothing of larger batches:
  // another moment would be the highest then.
  if (share == nullptr || allocated == 0 || share->with_batch < allocated / 2) return room;
  // What is reserved beyond what is allocated is taken to grow as both do.
  const auto stretched = static_cast<double>(reserved) / static_cast<double>(allocated);
  const auto outside = static_cast<double>(room.used - reserved);
  const auto left = estimate::target_high * static_cast<double>(room.capacity) - outside -
                    stretched * static_cast<double>(share->fixed);
  if (left > 0) room.batch_factor = left / (stretched * static_cast<double>(share->with_batch));
  return room;
}

void add_expected_in_full(page& out, const process_report& process, const device_report& device) {
  const auto terms = expected_terms(process, device);
  out.line(fmt::format("  {:>11} {:>11} {:>9}  {}", "expected", "measured", "", ""),
           emphasis::faint);
  for (const auto& term : terms) {
    out.line(printable(fmt::format("  {:>11} {:>11} {:>9}  {}{}{}",
                                   term.expected ? format_bytes(*term.expected) : "?",
                                   format_bytes(term.measured), difference_of(term), term.name,
                                   term.formula.empty() ? "" : ": ", term.formula)));
    if (!term.note.empty() && (!term.expected || term.measured != *term.expected)) {
      out.line(printable(fmt::format("  {:>36}{}", "", term.note)));
    }
  }
  out.line(
      "  measured: the most at any phase's peak; formulas and sources: memtrace estimate, "
      "docs/estimate.md",
      emphasis::faint);
  if (const auto room = room_of(process, device)) add_room(out, *room);
  add_host_room(out, process);
}

std::string expected_in_brief(const process_report& process, const device_report& device) {
  const auto peak = device.peak_allocated.totals.allocated;
  std::string line;
  for (const auto& term : expected_terms(process, device)) {
    if (!estimate::is_off(term, peak)) continue;
    line += fmt::format("{}{} {} (expected {})", line.empty() ? "Not as expected: " : ", ",
                        term.name, format_bytes(term.measured), format_bytes(*term.expected));
  }
  return line.empty() ? line : line + ": --by expected";
}

}  // namespace memtrace::report
