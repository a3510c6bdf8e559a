// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/fit/show.h"
#include "analyzer/plan/serve/cell.h"
#include "analyzer/show/json/values.h"

namespace memtrace::serve {

namespace {

using as_json::json;

[[nodiscard]] json cell_json(const request& wanted, const cell& one) {
  auto shares = json::array();
  for (const auto& [name, bytes] : one.shares) shares.push_back({{"what", name}, {"bytes", bytes}});
  json made{{"gpu", one.gpu.label},
            {"model", one.gpu.model},
            {"gpu_bytes", one.gpu.total_bytes},
            {"settings", wanted.variants[one.variant].words},
            {"starts", came_up(one.came)},
            {"why_not", as_json::text_or_null(one.why)},
            {"kv_cache_tokens", as_json::or_null(one.said.tokens)},
            {"longest_request_tokens", as_json::or_null(one.said.length)},
            {"requests_at_once", as_json::or_null(one.said.requests_at_once)},
            {"kv_cache_bytes", one.kv_cache_bytes},
            {"weights_bytes", one.weights_bytes},
            {"devices", one.devices},
            {"used_bytes", one.used_bytes},
            {"left_bytes", came_up(one.came) ? json(one.left_bytes()) : json()},
            {"shares", shares},
            {"serves", as_json::or_null(serves(wanted, one))},
            {"seconds", one.seconds}};
  if (!wanted.axes.empty())
    made["variant"] = fit::flags_of(wanted.axes, wanted.variants[one.variant]);
  return made;
}

}  // namespace

nlohmann::ordered_json to_json(const request& wanted, const std::vector<cell>& cells,
                               double seconds) {
  auto list = json::array();
  for (const auto& one : cells) list.push_back(cell_json(wanted, one));
  const auto* const best = smallest_that_serves(wanted, cells);
  json load;
  if (wanted.requests != 0) load = {{"requests", wanted.requests}, {"tokens", wanted.tokens}};
  return {{"schema", "memtrace-plan/1"},
          {"command", wanted.command},
          {"cells", list},
          {"load", load},
          {"smallest_that_serves", best == nullptr ? json() : json(best - cells.data())},
          {"seconds", seconds}};
}

}  // namespace memtrace::serve
