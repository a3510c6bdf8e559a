// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/what_if/runs.h"

#include <algorithm>

#include "analyzer/show/json/values.h"

namespace memtrace::what_if {

namespace {

using as_json::json;

[[nodiscard]] json oom_json(const replayed_option& option) {
  const auto& at = option.range.worst.out_of_memory;
  if (!at) return nullptr;
  return {{"event", at->event},
          {"requested_bytes", at->requested},
          {"whatever_the_addresses", option.range.best.out_of_memory.has_value()},
          {"allocations_before", option.allocations_before},
          {"most_allocations_before",
           option.range.best.out_of_memory ? json(option.most_allocations_before) : json(nullptr)},
          {"where", as_json::text_or_null(option.runs_out_at.where)},
          {"frames", as_json::frames_json(option.runs_out_at.frames)}};
}

[[nodiscard]] json calls_json(const allocator::driver_calls& calls) {
  return {{"allocations", calls.allocations},
          {"frees", calls.frees},
          {"maps", calls.maps},
          {"unmaps", calls.unmaps},
          {"reservations", calls.reservations},
          {"failed", calls.failed}};
}

[[nodiscard]] json fit_json(const std::optional<allocator::smallest_fit>& fits) {
  if (!fits) return nullptr;
  return {
      {"capacity_bytes", fits->usable_bytes}, {"retries", fits->retries}, {"tested", fits->tested}};
}

[[nodiscard]] json option_json(const replayed_device& device, const replayed_option& option) {
  const auto& shown = representative(device, option);
  const auto& [lowest, best, worst, depends] = option.range;
  return {{"alloc_conf", option.alloc_conf},
          {"recorded", option.is_recorded},
          {"capacity_bytes", device.usable_bytes},
          {"peak_reserved_bytes", shown.reserved.bytes},
          {"peak_reserved_event", shown.reserved.event},
          {"peak_reserved_least_bytes", std::min(best.reserved.bytes, worst.reserved.bytes)},
          {"peak_reserved_most_bytes", std::max(best.reserved.bytes, worst.reserved.bytes)},
          {"depends_on_addresses", depends},
          {"peak_allocated_bytes", shown.allocated.bytes},
          {"peak_active_bytes", shown.active.bytes},
          {"retries", shown.retries},
          {"driver_calls", shown.calls.total()},
          {"driver_calls_by_kind", calls_json(shown.calls)},
          {"exact", device.exact.exact},
          {"oom", oom_json(option)},
          {"smallest_fit", fit_json(option.fits)},
          {"served_refusals", worst.served_refusals},
          {"early_completions", worst.early_completions}};
}

[[nodiscard]] json difference_json(const std::optional<allocator::difference>& first) {
  if (!first) return nullptr;
  return {{"event", first->event},
          {"what", first->what},
          {"recorded", first->recorded},
          {"replayed", first->replayed}};
}

[[nodiscard]] json options_json(const replayed_device& device) {
  auto list = json::array();
  for (const auto& option : device.options) list.push_back(option_json(device, option));
  return list;
}

[[nodiscard]] json device_json(const replayed_process& process, const replayed_device& device) {
  auto doubts = json::array();
  for (const auto& sentence : device.doubts) doubts.push_back(sentence);
  return {{"trace", process.path},
          {"pid", process.pid},
          {"torch", as_json::text_or_null(process.torch_version)},
          {"device", device.index},
          {"name", device.name},
          {"total_bytes", device.total_bytes},
          {"capacity_bytes", device.usable_bytes},
          {"outside_bytes", device.outside_bytes},
          {"on_recorded_device", device.on_recorded_device},
          {"capacity_step_bytes", device.capacity_step},
          {"requests", device.requests},
          {"recorded_out_of_memory", device.recorded_refusals},
          {"exactness",
           {{"exact", device.exact.exact},
            {"events", device.exact.events},
            {"first_difference", difference_json(device.exact.first)},
            {"doubts", doubts}}},
          {"options", options_json(device)}};
}

}  // namespace

nlohmann::ordered_json to_json(const std::vector<replayed_process>& processes) {
  auto devices = json::array();
  // The fullest of several devices, by what was recorded.
  const replayed_device* fullest = nullptr;
  for (const auto& process : processes) {
    for (const auto& device : process.devices) {
      devices.push_back(device_json(process, device));
      const auto peak = [](const replayed_device& of) {
        return representative(of, of.options.front()).reserved.bytes;
      };
      if (fullest == nullptr || peak(device) > peak(*fullest)) fullest = &device;
    }
  }
  json made = {{"schema", "memtrace-replay/1"}};
  if (fullest != nullptr) {
    made.update(option_json(*fullest, fullest->options.at(fullest->asked_for)));
    made["options"] = options_json(*fullest);
  }
  made["devices"] = devices;
  return made;
}

}  // namespace memtrace::what_if
