// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/snapshot/profiler_contents.h"

#include <fmt/core.h>

#include <istream>
#include <string>
#include <utility>

#include "analyzer/model/snapshot/json_input.h"
#include "analyzer/model/snapshot/profiler_events.h"

namespace memtrace::snapshot {

namespace {

constexpr char instead[] =
    "take a memory snapshot (torch.cuda.memory._dump_snapshot(FILE)) in its place, or run the "
    "program under memtrace run";

[[nodiscard]] trace::error not_one(std::string sentence) {
  return {trace::error_code::not_a_snapshot, 0, std::move(sentence)};
}

[[nodiscard]] trace::error corrupt(const json_input& input, std::uint64_t at) {
  const auto what = input.too_long()  ? fmt::format("has a text of more than {} MiB",
                                                    json_input::longest_token >> 20)
                    : input.damaged() ? std::string("is packed with gzip, and damaged")
                    : input.ended()   ? std::string("is JSON that is cut off")
                                      : std::string("is no proper JSON from here on:");
  return {trace::error_code::corrupt_snapshot, at,
          fmt::format("{} at offset {}; have the profiler write it again "
                      "(prof.export_chrome_trace(FILE))",
                      what, at)};
}

[[nodiscard]] trace::status without_memory(const profiler_contents& found) {
  if (!found.events.empty()) return std::nullopt;
  constexpr char again[] = "record it with profile(profile_memory=True, activities with CUDA)";
  if (found.skipped != 0) {
    return not_one(
        fmt::format("is a trace of PyTorch's profiler whose memory events lack "
                    "addresses or totals, as versions before 1.12 write them; {}",
                    instead));
  }
  if (found.others != 0) {
    return not_one(fmt::format(
        "is a trace of PyTorch's profiler with memory events of the CPU only; {}", again));
  }
  return not_one(fmt::format("is a trace of PyTorch's profiler without memory events; {}", again));
}

}  // namespace

trace::status read_profiler_trace(
    trace::byte_source& source, profiler_contents& to,
    const std::function<void(std::uint64_t, std::uint64_t)>& on_progress) {
  json_input input(source);
  std::istream stream(&input);
  std::uint64_t shown = 0;
  profiler_events events(to, [&] {
    input.token_ended();
    if (!on_progress || input.bytes_read() == shown) return;
    shown = input.bytes_read();
    on_progress(shown, source.size());
  });
  const bool whole = nlohmann::json::sax_parse(stream, &events);
  switch (events.how()) {
    case profiler_events::ending::memory_timeline:
      return not_one(fmt::format(
          "is a memory timeline of PyTorch's profiler (export_memory_timeline): sums by "
          "category without the blocks behind them, so no trace can be made of it; {}",
          instead));
    case profiler_events::ending::other:
      return not_one(fmt::format("is JSON, but no trace of PyTorch's profiler; {}", instead));
    case profiler_events::ending::too_many:
      return not_one(
          fmt::format("has more than {} memory events; have the profiler record fewer "
                      "steps (schedule(active=…))",
                      profiler_contents::most_events));
    default:
      break;
  }
  if (!whole) return corrupt(input, events.error_at());
  if (!events.has_events()) {
    return not_one(fmt::format("is JSON, but no trace of PyTorch's profiler; {}", instead));
  }
  return without_memory(to);
}

}  // namespace memtrace::snapshot
