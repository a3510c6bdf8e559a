// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/fragmentation/blocked.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "analyzer/judge/fragmentation/live_bytes.h"
#include "analyzer/model/allocator/rounding.h"
#include "analyzer/trace/code/places.h"

namespace memtrace::fragmentation {

namespace {

constexpr std::size_t most_told = 8;

}  // namespace

std::uint32_t request_of_event(const allocator::request_log& log, std::uint64_t event) {
  const auto found = std::ranges::lower_bound(log.events, event);
  if (found == log.events.end() || *found != event) return never;
  // Completions that this allocation saw first may carry its event, too.
  auto index = static_cast<std::size_t>(found - log.events.begin());
  while (index + 1 < log.events.size() && log.events[index + 1] == event) ++index;
  if (index >= log.requests.size()) return never;
  return log.requests[index].what() == allocator::action::allocate
             ? static_cast<std::uint32_t>(index)
             : never;
}

requester requester_of(const blocks::evidence& of, std::uint32_t request) {
  trace::stack_id stack;
  trace::stack_id forward;
  bool in_backward = false;
  const auto block = of.log.requests[request].block;
  const auto& ooms = of.replayed.ooms();
  const auto refused =
      std::ranges::find(ooms, of.log.events[request], &replay::out_of_memory::event);
  if (refused != ooms.end()) {  // it made no block
    stack = refused->stack;
    forward = refused->forward;
    in_backward = replay::is_backward_thread(of.names, refused->thread);
  } else if (block < of.blocks.size()) {
    stack = of.blocks[block].stack;
    forward = of.blocks[block].forward;
    in_backward = of.blocks[block].born_in == attribution::phase::backward;
  }
  requester found{code::frames_of(of.names, stack), {}};
  const auto helped = code::frames_of(of.names, forward);
  found.place = found.frames.empty() && helped.empty() && in_backward
                    ? "the backward pass"
                    : code::place_of_request(found.frames, helped, {});
  return found;
}

viewpoint viewpoint_of(const allocator::request_log& log, std::uint32_t request) {
  const auto& one = log.requests[request];
  return {one.stream, one.pool,
          allocator::round_size(log.options, one.size) <= allocator::small_size};
}

blocked_search::blocked_search(const blocks::evidence& of, const device_history& history,
                               std::size_t most)
    : of_(of) {
  auto order = history.reserving;
  const auto weight = [](const reserving_request& one) {
    return std::tuple(one.out_of_memory, one.got);
  };
  std::ranges::stable_sort(order, std::greater(), weight);
  if (order.size() > most) order.resize(most);
  found_.of = history.reserving_requests;
  for (const auto& one : order) {
    const auto request = request_of_event(of.log, one.event);
    if (request != never && request != 0) candidates_.emplace(request, one);
    if (request == 0) ++found_.looked_at;  // before it nothing was free
  }
  for (const auto& [request, one] : candidates_) moments_.push_back(request - 1);
}

void blocked_search::look(std::uint32_t request, const allocator::layout& heap) {
  const auto candidate = candidates_.find(request + 1);
  if (candidate == candidates_.end()) return;
  const auto& [index, reserving] = *candidate;
  const auto& asked = of_.log.requests[index];
  const auto bytes = allocator::round_size(of_.log.options, asked.size);
  const auto free = free_memory_for(heap, viewpoint_of(of_.log, index));
  ++found_.looked_at;
  if (free.total < bytes || free.largest >= bytes) return;
  ++found_.count;
  found_.got += reserving.got;
  auto by = requester_of(of_, index);
  found_.largest.push_back({reserving.event, bytes, free.total, free.largest,
                            reserving.out_of_memory, std::move(by.frames), std::move(by.place)});
}

blocked_requests blocked_search::finish() {
  std::ranges::stable_sort(found_.largest, std::greater(), [](const blocked_request& one) {
    return std::tuple(one.out_of_memory, one.bytes);
  });
  if (found_.largest.size() > most_told) found_.largest.resize(most_told);
  return std::move(found_);
}

}  // namespace memtrace::fragmentation
