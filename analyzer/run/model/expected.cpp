// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/model/expected.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "analyzer/base/text/units.h"
#include "analyzer/model/estimate/fit.h"

namespace memtrace::run {

namespace {

[[nodiscard]] std::uint64_t bytes_in(const memory_view& view, attribution::category what) {
  const auto row = std::ranges::find(view.categories, what, &category_row::what);
  return row == view.categories.end() ? 0 : row->bytes;
}

// Autocast's copies of weights, which count as activations.
[[nodiscard]] std::uint64_t casts_in(const memory_view& view) {
  std::uint64_t bytes = 0;
  for (const auto& row : view.categories) {
    for (const auto& one : row.rules) {
      if (one.rule == "autocast_copy") bytes += one.bytes;
    }
  }
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
  const auto look = [&run](const memory_view& view, std::optional<attribution::phase> when) {
    const auto most = [](std::uint64_t& so_far, std::uint64_t bytes) {
      so_far = std::max(so_far, bytes);
    };
    const auto casts = casts_in(view);
    most(run.weight_casts, casts);
    most(run.weights, bytes_in(view, attribution::category::weights));
    most(run.gradients, bytes_in(view, attribution::category::gradients));
    most(run.optimizer_states, bytes_in(view, attribution::category::optimizer_states));
    most(run.workspace, bytes_in(view, attribution::category::workspace));
    const auto activations = bytes_in(view, attribution::category::activations);
    most(run.activations, activations - std::min(casts, activations));
    if (when == attribution::phase::optimizer) {
      most(run.step_temporaries, bytes_in(view, attribution::category::temporaries));
    }
  };
  look(device.at_peak, std::nullopt);
  for (const auto& one : device.phases) {
    if (one.which != attribution::phase::setup) look(one.at_peak, one.which);
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
  run.cached = top.all_unused();
  run.graph_pools = top.graph_pools;
  run.peak = device.peak_allocated.totals.allocated;
  if (const auto* const share = share_of(process, device.facts.device)) {
    run.unused_copies = share->unused_copies;
    run.expected_activations = share->expected_activations;
    run.activations_formula = share->activations_formula;
  }
  return run;
}

}  // namespace

std::vector<estimate::expected_term> expected_terms(const process_report& process,
                                                    const device_report& device) {
  // Which parameters there are is known at the peak: not of a model that is still put together.
  const bool in_setup = device.at_peak.during == attribution::phase::setup;
  if (device.from_cuda_calls || in_setup) return {};
  return estimate::expect(measure(process, device));
}

namespace {

// What the program still gathers, up to the bound that it has: a replay buffer that is half full.
[[nodiscard]] std::uint64_t still_to_come(const process_report& process, std::uint32_t device) {
  const auto found = std::ranges::find_if(process.findings.verdicts, [&](const auto& about) {
    return about.about.kind == verdicts::subject_kind::device && about.about.device == device;
  });
  if (found == process.findings.verdicts.end() || !found->steps_to_bound) return 0;
  return static_cast<std::uint64_t>(std::max(0.0, found->bytes_per_step) *
                                    static_cast<double>(*found->steps_to_bound));
}

}  // namespace

std::optional<gpu_room> room_of(const process_report& process, const device_report& device) {
  if (device.facts.total_bytes == 0) return std::nullopt;
  gpu_room room;
  if (device.from_cuda_calls) {
    if (!device.used) return std::nullopt;
    for (const auto& holder : device.outside) {
      if (holder.owner == device::part_name::others) room.others += holder.bytes;
    }
    room.used = device.used->used - std::min(device.used->used, room.others);
    room.capacity = device.facts.total_bytes;
    return room;
  }
  const auto reserved = device.reserved().value_or(device.peak_allocated.totals.allocated);
  room.used = reserved;
  for (const auto& holder : device.outside) {
    (holder.owner == device::part_name::others ? room.others : room.used) += holder.bytes;
  }
  // What is outside of PyTorch's pool does not count against what the program allows it.
  room.capacity = device.facts.total_bytes;
  if (device.allowed) {
    room.capacity = std::min(room.capacity, *device.allowed + room.used - reserved + room.others);
  }
  const auto* const share = share_of(process, device.facts.device);
  const auto allocated = device.peak_allocated.totals.allocated;
  // A peak that is mostly weights and states (the optimizer's step) says nothing of larger batches:
  // another moment would be the highest then.
  if (share == nullptr || allocated == 0 || share->with_batch < allocated / 2) return room;
  const auto fixed = share->fixed + still_to_come(process, device.facts.device);
  // Memory that is reserved beyond what is allocated is taken to grow as both do.
  const auto stretched = static_cast<double>(reserved) / static_cast<double>(allocated);
  const auto outside = static_cast<double>(room.used - reserved + room.others);
  const auto left = estimate::target_high * static_cast<double>(room.capacity) - outside -
                    stretched * static_cast<double>(fixed);
  if (left > 0) room.batch_factor = left / (stretched * static_cast<double>(share->with_batch));
  return room;
}

std::string use_words(std::uint64_t used, std::uint64_t capacity) {
  return fmt::format("{} of {} ({:.0f} %)", text::brief_bytes(used), text::brief_bytes(capacity),
                     100.0 * static_cast<double>(used) / static_cast<double>(capacity));
}

std::string use_of(const process_report& process, const device_report& device) {
  if (const auto room = room_of(process, device)) {
    auto words = use_words(room->used, room->capacity);
    if (room->others == 0) return words;
    return words + fmt::format(", and {} by other processes", text::brief_bytes(room->others));
  }
  return text::brief_bytes(device.peak_allocated.totals.allocated) + " at most";
}

bool has_room(const process_report& process, std::uint32_t device) {
  const auto failed = std::ranges::any_of(
      process.ooms, [&](const oom_report& one) { return one.facts.device == device; });
  const auto found = std::ranges::find_if(
      process.devices, [&](const device_report& one) { return one.facts.device == device; });
  if (failed || found == process.devices.end()) return false;
  const auto room = room_of(process, *found);
  return room && room->used + room->others + still_to_come(process, device) < room->capacity / 2;
}

}  // namespace memtrace::run
