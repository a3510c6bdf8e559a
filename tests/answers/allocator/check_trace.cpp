// SPDX-License-Identifier: Apache-2.0
//
// check_trace [--replay] TRACE…: for each device of each trace one line of JSON: whether the
// allocator's model does what was recorded at every event, and the layout that it has when the
// program takes its last snapshot (torch.cuda.memory._snapshot), else at the end. With
// --replay also what it predicts by itself, from the requests alone, for the recorded options.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "analyzer/model/allocator/compile.h"
#include "analyzer/model/allocator/exactness.h"
#include "analyzer/model/allocator/what_if.h"
#include "analyzer/trace/reader/byte_source.h"
#include "analyzer/trace/reader/observers.h"
#include "analyzer/trace/reader/reader.h"

namespace {

using nlohmann::json;
namespace allocator = memtrace::allocator;
namespace trace = memtrace::trace;

// As torch.cuda.memory._snapshot() names them.
const char* name_of(allocator::block_state state) {
  switch (state) {
    case allocator::block_state::allocated:
      return "active_allocated";
    case allocator::block_state::pending:
      return "active_pending_free";
    case allocator::block_state::cached:
      return "inactive";
    case allocator::block_state::unmapped:
      return "unmapped";
  }
  return "";
}

json as_json(const allocator::request_log& log, const allocator::layout& at_end) {
  json segments = json::array();
  for (const auto& segment : at_end.segments) {
    json blocks = json::array();
    for (const auto& block : segment.blocks) {
      blocks.push_back({block.address, block.bytes, block.requested, name_of(block.state)});
    }
    const trace::pool_id pool = log.pools.at(segment.pool);
    segments.push_back({{"address", segment.address},
                        {"bytes", segment.bytes},
                        {"mapped", segment.mapped},
                        {"stream", log.streams.at(segment.stream)},
                        {"pool", {pool.first, pool.second}},
                        {"small", segment.small},
                        {"expandable", segment.expandable},
                        {"blocks", std::move(blocks)}});
  }
  return {{"segments", std::move(segments)},
          {"reserved", at_end.reserved},
          {"allocated", at_end.allocated},
          {"active", at_end.active}};
}

json as_json(const allocator::outcome& end) {
  json out = {{"peak_reserved", end.reserved.bytes},
              {"peak_allocated", end.allocated.bytes},
              {"peak_active", end.active.bytes},
              {"reserved_at_end", end.reserved_at_end},
              {"retries", end.retries},
              {"calls",
               {end.calls.allocations, end.calls.frees, end.calls.maps, end.calls.unmaps,
                end.calls.reservations, end.calls.failed}},
              {"out_of_memory", nullptr}};
  if (end.out_of_memory) {
    out["out_of_memory"] = {{"event", end.out_of_memory->event},
                            {"requested", end.out_of_memory->requested}};
  }
  return out;
}

class snapshot_finder final : public trace::record_visitor {
 public:
  void on_allocator(const trace::event& head, const trace::allocator_event& record) override {
    if (record.kind == memtrace::format::kind::snapshot) last_ = head.number;
  }
  [[nodiscard]] std::uint64_t last() const { return last_; }

 private:
  std::uint64_t last_ = std::numeric_limits<std::uint64_t>::max();
};

json check(const allocator::request_log& log, std::uint64_t until, bool replay) {
  const allocator::exactness found = compare_with_recording(log);
  json out = {{"device", log.device},
              {"requests", log.requests.size()},
              {"blocks", log.blocks()},
              {"doubts", log.doubts},
              {"exact", found.exact},
              {"events", found.events},
              {"first", nullptr},
              {"compared_totals", found.compared_totals},
              {"refused", log.refused_events.size()}};
  if (found.first) {
    out["first"] = {{"event", found.first->event},
                    {"what", found.first->what},
                    {"recorded", found.first->recorded},
                    {"replayed", found.first->replayed}};
  }
  const auto after = std::find_if(log.events.begin(), log.events.end(),
                                  [&](std::uint64_t event) { return event > until; });
  if (after != log.events.begin() && log.doubts.empty()) {
    const auto last = static_cast<std::uint32_t>(after - log.events.begin() - 1);
    show_recorded_layouts(log, {last}, [&](std::uint32_t, const allocator::layout& at_end) {
      out["layout"] = as_json(log, at_end);
    });
  }
  out["recorded"] = as_json(found.replayed);
  if (replay) out["predicted"] = as_json(allocator::replay(log, as_recorded(log)));
  return out;
}

bool check_file(const std::string& path, bool replay) {
  auto source = trace::file_source::open(path);
  if (!source) return false;
  auto reader = trace::reader::open(*source);
  if (!reader) return false;
  allocator::compiler compiler(reader->names());
  snapshot_finder snapshots;
  trace::observers both(compiler, snapshots);
  (void)reader->read(both);
  for (const auto& [device, log] : compiler.finish()) {
    json out = check(*log, snapshots.last(), replay);
    out["trace"] = path;
    std::printf("%s\n", out.dump().c_str());
  }
  return true;
}

}  // namespace

int main(int count, char** arguments) try {
  bool replay = false;
  int status = 0;
  for (int i = 1; i < count; ++i) {
    if (std::strcmp(arguments[i], "--replay") == 0) {
      replay = true;
    } else if (!check_file(arguments[i], replay)) {
      std::fprintf(stderr, "%s: cannot be read\n", arguments[i]);
      status = 1;
    }
  }
  return status;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
