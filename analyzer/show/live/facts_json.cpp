// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/live/frame.h"

#include "analyzer/show/json/values.h"

namespace memtrace::live {

namespace {

using as_json::json;

[[nodiscard]] const char* name_of(run_state state) {
  switch (state) {
    case run_state::reading:
    case run_state::running:
      return "running";
    case run_state::ended:
      return "ended";
    case run_state::killed:
      return "killed";
    case run_state::stopped:
      return "stopped";
    case run_state::replaced:
      return "replaced";
    case run_state::damaged:
      return "damaged";
  }
  return "";
}

[[nodiscard]] json categories_json(const run::memory_view& view) {
  auto list = json::array();
  for (const auto& row : view.categories) {
    list.push_back({{"category", attribution::name_of(row.what)},
                    {"bytes", row.bytes},
                    {"blocks", row.blocks}});
  }
  return list;
}

[[nodiscard]] json growth_json(const verdicts::verdict* growth) {
  if (growth == nullptr) return nullptr;
  return {{"answer", name_of(verdicts::answer_of(*growth))},
          {"shape", growth::name_of(growth->found.shape)},
          {"bytes_per_step", growth->bytes_per_step},
          {"steps_to_oom", as_json::or_null(growth->steps_to_oom)}};
}

[[nodiscard]] json device_json(const shown_run& shown, std::uint32_t device) {
  const auto& run = shown.run;
  const auto& allocator = run.replayed().device(device)->allocator;
  const auto steps = run.steps(device);
  const auto reserved = static_cast<std::int64_t>(allocator.totals().reserved);
  json made = {
      {"device", device},
      {"allocated_bytes", allocator.allocated()},
      {"reserved_bytes", reserved + allocator.reserved_difference()},
      {"peak_allocated_bytes", allocator.peak_allocated().totals.allocated},
      {"peak_reserved_bytes", allocator.peak_reserved().totals.reserved},
      {"steps", steps.count},
      {"last_step_peak_bytes", steps.count == 0 ? json(nullptr) : json(steps.latest.peak)}};
  if (const auto* const held = run.held(device)) {
    made["categories"] = categories_json(held->now);
    made["categories_at_peak"] = categories_json(held->at_peak);
    made["growth"] = growth_json(growth_of(shown, device));
  }
  return made;
}

}  // namespace

nlohmann::ordered_json facts_json(const std::vector<shown_run>& all) {
  auto processes = json::array();
  for (const auto& one : all) {
    auto devices = json::array();
    for (const auto device : one.run.devices()) devices.push_back(device_json(one, device));
    const auto facts = one.run.facts();
    processes.push_back({{"path", one.run.path()},
                         {"pid", one.run.header().process_id},
                         {"rank", as_json::or_null(one.run.rank())},
                         {"state", name_of(one.run.state())},
                         {"events", facts.events},
                         {"devices", std::move(devices)}});
  }
  return {{"processes", std::move(processes)}};
}

}  // namespace memtrace::live
