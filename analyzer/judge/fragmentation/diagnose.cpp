// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "analyzer/base/text/units.h"
#include "analyzer/judge/blocks/evidence.h"
#include "analyzer/judge/fragmentation/blocked.h"
#include "analyzer/judge/fragmentation/diagnosis.h"
#include "analyzer/judge/fragmentation/live_bytes.h"
#include "analyzer/judge/fragmentation/pieces.h"
#include "analyzer/judge/fragmentation/segment_history.h"
#include "analyzer/model/allocator/layout.h"
#include "analyzer/model/allocator/rounding.h"
#include "analyzer/model/replay/replay.h"

namespace memtrace::fragmentation {

namespace {

using allocator::layout;
using allocator::request_log;

constexpr std::size_t windows = 64;
constexpr std::size_t most_blocked = 1000;
// Blocks looked at, over all layouts.
constexpr std::size_t most_work = std::size_t{1} << 25;

void take_totals(diagnosis& made, const replay::replayer& replayed,
                 const segment_history& history) {
  made.pressure = history.device(made.device).pressure;
  const auto* const record = replayed.device(made.device);
  if (record == nullptr) return;
  made.peak_reserved = record->allocator.peak_reserved().totals.reserved;
  made.peak_allocated = record->allocator.peak_allocated().totals.allocated;
}

// Without garbage collection only a refusal frees cached memory inside of an allocation: the
// memory fraction's leaves no other trace.
void settle_pressure(pressure& found, const allocator::settings& options) {
  if (options.garbage_collection_threshold > 0) return;
  found.retries += found.collections;
  found.retry_ns += found.collection_ns;
  found.collections = 0;
  found.collection_ns = 0;
}

// Of the moments at which most was reserved that at which most was allocated, as the report's
// totals have it: what is unused then has been of no use.
[[nodiscard]] std::uint32_t peak_request(const blocks::evidence& of,
                                         const device_history& history) {
  const auto first = request_of_event(of.log, history.peak_event);
  const auto* const record = of.replayed.device(of.log.device);
  if (record == nullptr) return first;
  const auto& peak = record->allocator.peak_reserved();
  if (peak.totals.reserved != history.peak_reserved) return first;
  const auto fullest = request_of_event(of.log, peak.event);
  return fullest == never ? first : fullest;
}

// The event of what ended the program, else of the first.
[[nodiscard]] std::uint32_t out_of_memory_request(const blocks::evidence& of) {
  const replay::out_of_memory* chosen = nullptr;
  for (const auto& one : of.replayed.ooms()) {
    if (one.device != of.log.device) continue;
    if (chosen == nullptr || (chosen->caught && !one.caught)) chosen = &one;
  }
  return chosen == nullptr ? never : request_of_event(of.log, chosen->event);
}

// The latest request for a large segment up to this one; where there is none, this one.
[[nodiscard]] std::uint32_t large_request(const request_log& log, const device_history& history,
                                          std::uint32_t request) {
  const auto event = log.events[request];
  auto next = std::ranges::upper_bound(history.reserving, event, {}, &reserving_request::event);
  while (next != history.reserving.begin()) {
    --next;
    if (!next->large) continue;
    const auto found = request_of_event(log, next->event);
    return found == never ? request : found;
  }
  return request;
}

[[nodiscard]] rounding rounding_of(const layout& heap, const allocator::settings& options,
                                   std::uint64_t& requested) {
  rounding found;
  for (const auto& segment : heap.segments) {
    for (const auto& block : segment.blocks) {
      if (block.state != allocator::block_state::allocated) continue;
      const auto asked = std::min(block.requested, block.bytes);
      const auto rounded = std::clamp(allocator::round_size(options, asked), asked, block.bytes);
      requested += asked;
      found.multiples += rounded - asked;
      found.tails += block.bytes - rounded;
    }
  }
  return found;
}

[[nodiscard]] const replay::graph_pools* graphs_of(const blocks::evidence& of) {
  const auto* const record = of.replayed.device(of.log.device);
  return record == nullptr ? nullptr : &record->allocator.graphs();
}

class diagnostician {
 public:
  diagnostician(const blocks::evidence& of, const device_history& history, diagnosis& made)
      : of_(of),
        history_(history),
        made_(made),
        live_(measure_live_bytes(of.log, windows, graphs_of(of))),
        long_lived_(of.log, live_, of.step_ends),
        blocked_(
            of, history,
            std::min(most_blocked, most_work / (live_.most_blocks + history.most_segments + 1))),
        peak_(peak_request(of, history)),
        out_of_memory_(out_of_memory_request(of)) {
    made.lower_bound = live_.most;
    made.lower_bound_active = live_.most_active;
  }

  void run() {
    auto moments = blocked_.moments();
    moments.insert(moments.end(), live_.fullest.begin(), live_.fullest.end());
    for (const auto request : {peak_, out_of_memory_}) {
      if (request != never) moments.push_back(request);
    }
    std::ranges::sort(moments);
    const auto repeated = std::unique(moments.begin(), moments.end());
    moments.erase(repeated, moments.end());
    allocator::show_recorded_layouts(
        of_.log, moments, [&](std::uint32_t request, const layout& heap) { look(request, heap); });
    made_.blocked = blocked_.finish();
  }

 private:
  void look(std::uint32_t request, const layout& heap) {
    blocked_.look(request, heap);
    if (std::ranges::binary_search(live_.fullest, request)) {
      const auto view = viewpoint_of(of_.log, large_request(of_.log, history_, request));
      const auto replayed = replayed_at(request);
      const auto pieces = pieces_of(heap, view, std::ref(long_lived_), replayed);
      made_.over_time.push_back({of_.log.events[request], heap.reserved, heap.allocated,
                                 graph_pools_of(heap, replayed), sum_of(pieces)});
    }
    if (request == peak_) {
      const auto asked = large_request(of_.log, history_, request);
      made_.at_peak = explain(request, heap, asked);
      if (!blocked_out_) made_.pinning = pinning_sites(pieces_, heap, long_lived_, of_);
      made_.maps.push_back(draw(heap, of_, "peak_reserved", of_.log.events[request]));
      compare(heap);
    }
    if (request == out_of_memory_) {
      made_.out_of_memory = explain(request, heap, request);
      const auto free = free_memory_for(heap, viewpoint_of(of_.log, request)).total;
      blocked_out_ = free >= made_.out_of_memory->request;
      if (blocked_out_) made_.pinning = pinning_sites(pieces_, heap, long_lived_, of_);
      made_.maps.push_back(draw(heap, of_, "out_of_memory", of_.log.events[request]));
    }
  }

  [[nodiscard]] replayed_pools replayed_at(std::uint32_t request) const {
    const auto* const graphs = graphs_of(of_);
    return graphs == nullptr ? replayed_pools() : replayed_in(of_.log, *graphs, request);
  }

  [[nodiscard]] explained_moment explain(std::uint32_t request, const layout& heap,
                                         std::uint32_t asked) {
    const auto view = viewpoint_of(of_.log, asked);
    const auto replayed = replayed_at(request);
    auto pieces = pieces_of(heap, view, std::ref(long_lived_), replayed);
    mark_used_again(pieces, of_.log, history_, request);
    pieces_ = cut_never_used(pieces, heap, of_.log, history_, request);
    explained_moment made;
    made.at = {of_.log.events[request], heap.reserved, heap.allocated,
               graph_pools_of(heap, replayed), sum_of(pieces_)};
    made.used_again = used_again_of(pieces_);
    made.inside = rounding_of(heap, of_.log.options, made.requested);
    const auto& wanted = of_.log.requests[asked];
    made.request = allocator::round_size(of_.log.options, wanted.size);
    auto by = requester_of(of_, asked);
    made.frames = std::move(by.frames);
    made.place = std::move(by.place);
    made.largest_piece = free_memory_for(heap, view).largest;
    return made;
  }

  // With the recorded segments.
  void compare(const layout& heap) {
    if (heap.reserved == history_.peak_reserved) return;
    made_.inexact = "the model reserves " + text::format_bytes(heap.reserved) +
                    " where the program had " + text::format_bytes(history_.peak_reserved);
  }

  const blocks::evidence& of_;
  const device_history& history_;
  diagnosis& made_;
  live_bytes live_;
  long_lives long_lived_;
  blocked_search blocked_;
  std::uint32_t peak_;
  std::uint32_t out_of_memory_;
  std::vector<piece> pieces_;  // of the moment explained last
  bool blocked_out_ = false;   // memory ran out at a blocked request: that is what to tell of
};

}  // namespace

diagnosis diagnose(const blocks::evidence& of, const segment_history& history) {
  diagnosis made;
  made.device = of.log.device;
  take_totals(made, of.replayed, history);
  settle_pressure(made.pressure, of.log.options);
  diagnostician look(of, history.device(made.device), made);
  if (of.log.doubts.empty()) {
    look.run();
    if (!made.at_peak && made.inexact.empty()) {
      made.inexact = of.part.empty() ? "no request is known that reserved the most"
                                     : "the peak is outside of " + of.part;
    }
  } else {
    made.inexact = of.log.doubts.front();
  }
  const auto* const record = of.replayed.device(made.device);
  conclude(made, record == nullptr ? 0 : record->facts.total_bytes);
  return made;
}

diagnosis diagnose_totals(std::uint32_t device, const replay::replayer& replayed,
                          const segment_history& history, std::string why) {
  diagnosis made;
  made.device = device;
  made.inexact = why.empty() ? "the requests of this device were not kept" : std::move(why);
  take_totals(made, replayed, history);
  return made;
}

}  // namespace memtrace::fragmentation
