// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/allocator/device_compiler.h"

#include <algorithm>
#include <limits>

#include "analyzer/model/allocator/rounding.h"

namespace memtrace::allocator {

namespace {

constexpr std::size_t most_requests = std::numeric_limits<std::uint32_t>::max() - 16;
constexpr std::size_t most_streams = 4096;
constexpr std::size_t most_pools = 4096;  // 12 bits
constexpr std::size_t most_doubts = 16;
constexpr std::uint64_t driver_granule = 2 * mebibyte;

}  // namespace

device_compiler::device_compiler(std::uint32_t device, kept_answers keep)
    : keeps_totals_(keep == kept_answers::all) {
  log_.device = device;
  log_.pools.push_back({});
  pools_.emplace_back();
}

void device_compiler::device_is(std::uint64_t total_bytes, std::uint64_t free_bytes) {
  log_.total_bytes = total_bytes;
  if (free_bytes != 0) free_bytes_ = free_bytes;
}

void device_compiler::doubt(std::string why) {
  if (log_.doubts.size() >= most_doubts) return;
  if (std::find(log_.doubts.begin(), log_.doubts.end(), why) != log_.doubts.end()) return;
  log_.doubts.push_back(std::move(why));
}

bool device_compiler::is_full() const {
  return log_.requests.size() >= most_requests;
}

device_compiler::thread_state& device_compiler::thread_of(const trace::event& head) {
  return threads_[head.thread.value];
}

std::uint16_t device_compiler::stream_of(std::uint64_t handle) {
  if (handle == latest_stream_ && !log_.streams.empty()) [[likely]]
    return latest_stream_number_;
  const auto [found, is_new] =
      stream_numbers_.try_emplace(handle, static_cast<std::uint16_t>(log_.streams.size()));
  if (is_new) {
    if (log_.streams.size() == most_streams) {
      stream_numbers_.erase(found);
      doubt("it has more streams than are told apart");
      return 0;
    }
    log_.streams.push_back(handle);
  }
  latest_stream_ = handle;
  latest_stream_number_ = found->second;
  return found->second;
}

std::uint16_t device_compiler::pool_of(const trace::pool_id& id) {
  if (!id.is_private()) [[likely]]
    return 0;
  if (log_.pools[latest_pool_] == id) return latest_pool_;
  const auto found = std::find(log_.pools.begin(), log_.pools.end(), id);
  if (found != log_.pools.end()) {
    return latest_pool_ = static_cast<std::uint16_t>(found - log_.pools.begin());
  }
  if (log_.pools.size() == most_pools) {
    doubt("it has more memory pools than are told apart");
    return 0;
  }
  log_.pools.push_back(id);
  pools_.emplace_back();
  return latest_pool_ = static_cast<std::uint16_t>(log_.pools.size() - 1);
}

void device_compiler::add(const request& asked, std::uint64_t event) {
  log_.requests.push_back(asked);
  log_.events.push_back(event);
  if (keeps_totals_) answers_->allocated.push_back(recorded_answers::not_told);
}

void device_compiler::add(action what, std::uint64_t event, std::uint16_t pool,
                          std::uint64_t size) {
  request made;
  made.set_what(what);
  made.size = size;
  made.pool = pool & 0xfffu;
  add(made, event);
}

void device_compiler::add_for(block_number block, action what, std::uint64_t event,
                              std::uint64_t size) {
  request made;
  made.set_what(what);
  made.size = size;
  made.block = block;
  add(made, event);
}

void device_compiler::allocator_entry(const trace::event& head,
                                      const trace::allocator_event& entry) {
  if (is_full()) return doubt("it has more requests than are replayed");
  using format::kind;
  const auto freed_before = std::exchange(freed_now_, 0);
  switch (entry.kind) {
    case kind::alloc:
      allocate(head, entry, false);
      break;
    case kind::oom:
      allocate(head, entry, true);
      break;
    case kind::free_requested:
      request_free(head, entry);
      break;
    case kind::free_completed:
      freed_now_ = freed_before;
      complete_free(head, entry);
      freed_now_ = 0;
      break;
    case kind::segment_alloc:
    case kind::segment_free:
    case kind::segment_map:
    case kind::segment_unmap:
      segment(head, entry);
      break;
    default:
      break;
  }
}

void device_compiler::allocate(const trace::event& head, const trace::allocator_event& entry,
                               bool refused) {
  auto& thread = thread_of(head);
  if (!refused) {
    if (auto* const known = live_.find(entry.address); known != nullptr) {
      doubt("a block was allocated where one was in use: frees are missing");
      add_for(known->number, known->requested ? action::complete : action::free, head.number);
      live_.erase(entry.address);
    }
  }
  const auto pool = asked_pool(head.number, entry.pool);
  const auto index = static_cast<std::uint32_t>(log_.requests.size());
  const auto number = static_cast<block_number>(log_.allocations.size());
  request made;
  made.set_what(action::allocate);
  made.size = entry.size;
  made.block = number;
  made.stream = stream_of(entry.stream);
  made.pool = pool & 0xfffu;
  add(made, head.number);
  log_.allocations.push_back(index);
  log_.addresses.push_back(refused ? 0 : entry.address);
  if (refused) {
    log_.refused_events.push_back(head.number);
    const auto usable = taken_ + entry.device_free;
    if (usable_at_refusal_ == 0 || usable < usable_at_refusal_) usable_at_refusal_ = usable;
  } else {
    live_.insert(entry.address) = {number, false};
  }
  see_outside();
  settle(thread);
}

// Records before the request at hand, which is the latest, belong to it.
void device_compiler::settle(thread_state& thread) {
  const auto index = static_cast<std::uint32_t>(log_.requests.size() - 1);
  for (auto& answer : thread.answers) {
    answer.request = index;
    answers_->driver.push_back(answer);
  }
  thread.answers.clear();
  for (const auto& [number, event] : thread.completed) {
    add_for(number, action::complete, event, 1);
  }
  thread.completed.clear();
  thread.waits = false;
}

void device_compiler::request_free(const trace::event& head, const trace::allocator_event& entry) {
  auto* const known = live_.find(entry.address);
  if (known == nullptr || known->requested) {
    unknown_frees_ = true;
    return;
  }
  known->requested = true;
  add_for(known->number, action::free, head.number, 1);
  freed_now_ = entry.address;
}

void device_compiler::complete_free(const trace::event& head, const trace::allocator_event& entry) {
  auto* const known = live_.find(entry.address);
  if (known == nullptr) {
    unknown_frees_ = true;
    return;
  }
  if (!known->requested) request_free(head, entry);
  const auto number = known->number;
  live_.erase(entry.address);
  auto& thread = thread_of(head);
  if (freed_now_ == entry.address && !log_.requests.empty()) {
    request freed = log_.requests.back();
    freed.size = 0;  // no stream held it up
    log_.requests.set(log_.requests.size() - 1, freed);
  } else if (thread.empties) {
    // Emptying one pool waits for its blocks; others complete there if nothing held them up any
    // more, which was not looked at while a pool was in use.
    const bool waited = thread.emptied_pool == 0 || thread.emptied_pool == pool_of(entry.pool);
    tell_emptying(thread);
    add_for(number, action::complete, head.number, waited ? 1 : 0);
  } else if (thread.waits) {
    thread.completed.emplace_back(number, head.number);
  } else {
    add_for(number, action::complete, head.number);
  }
}

void device_compiler::segment(const trace::event& head, const trace::allocator_event& entry) {
  using format::kind;
  auto what = driver_action::allocated;
  const bool adds = entry.kind == kind::segment_alloc || entry.kind == kind::segment_map;
  const auto taken = round_up(entry.size, driver_granule);
  taken_ += adds ? taken : 0 - taken;
  if (entry.kind == kind::segment_free) what = driver_action::freed;
  if (entry.kind == kind::segment_map) what = driver_action::mapped;
  if (entry.kind == kind::segment_unmap) what = driver_action::unmapped;
  if (entry.kind == kind::segment_alloc) outside_released(entry.address);
  auto& thread = thread_of(head);
  driver_answer answer{0, what, entry.address, entry.size, head.number};
  if (!thread.empties) {
    thread.answers.push_back(answer);
    return;
  }
  tell_emptying(thread);
  answer.request = thread.emptying_request;
  answers_->driver.push_back(answer);
}

void device_compiler::driver_call(const trace::event& head, driver_action what,
                                  std::uint64_t address, std::uint64_t bytes) {
  if (what == driver_action::allocated) {
    if (outside_.emplace(address, bytes).second) outside_bytes_ += bytes;
    return;
  }
  thread_of(head).answers.push_back({0, what, address, bytes, head.number});
}

void device_compiler::outside_released(std::uint64_t address) {
  const auto found = outside_.find(address);
  if (found == outside_.end()) return;
  outside_bytes_ -= found->second;
  outside_.erase(found);
}

void device_compiler::see_outside() {
  most_outside_bytes_ = std::max(most_outside_bytes_, outside_bytes_);
}

// The allocator empties its cache a moment after it was asked to: when it first does something.
void device_compiler::tell_emptying(thread_state& thread) {
  if (std::exchange(thread.emptying_is_told, true)) return;
  thread.emptying_request = static_cast<std::uint32_t>(log_.requests.size());
  add(action::empty_cache, thread.emptying_event, thread.emptied_pool);
}

void device_compiler::operation(const trace::event& head, const trace::operation_event& done) {
  if (is_full()) return;
  freed_now_ = 0;
  const auto pool = pool_of({done.a, done.b});
  auto& thread = thread_of(head);
  switch (static_cast<format::operation>(done.operation)) {
    case format::operation::event_synchronize:
      thread.waits = true;
      break;
    case format::operation::empty_cache_begin:
      thread.empties = true;
      thread.emptying_is_told = false;
      thread.emptied_pool = pool;
      thread.emptying_event = head.number;
      break;
    case format::operation::empty_cache_end:
      if (thread.empties) tell_emptying(thread);
      thread.empties = thread.waits = false;
      break;
    case format::operation::memory_fraction:
      add(action::memory_fraction, head.number, 0, done.a);
      break;
    default:
      pool_operation(head.number, done, pool);
  }
}

void device_compiler::settings_change(const trace::event& head, std::string_view text) {
  if (is_full()) return;
  freed_now_ = 0;
  add(action::settings, head.number, 0, log_.texts.size());
  log_.texts.emplace_back(text);
}

void device_compiler::report(const trace::report_event& told) {
  freed_now_ = 0;
  if (std::exchange(first_report_, false) &&
      told.allocated != static_cast<std::uint64_t>(std::max<std::int64_t>(told.block_bytes, 0))) {
    doubt("memory was allocated before the recording began");
  }
  if (!keeps_totals_ || answers_->allocated.empty()) return;
  answers_->allocated.back() = told.allocated;
  if (told.reserved == told_reserved_) return;
  told_reserved_ = told.reserved;
  answers_->reserved.push_back(
      {static_cast<std::uint32_t>(log_.requests.size() - 1), told.reserved});
}

// Without the allocator's own entries: sizes are those of blocks.
void device_compiler::block_report(const trace::event& head, const trace::reported_event& told) {
  doubt("it was recorded without the allocator's trace entries: only block sizes are known");
  trace::allocator_event entry;
  entry.address = told.address;
  entry.size = told.block_bytes;
  entry.kind = told.is_alloc ? format::kind::alloc : format::kind::free_requested;
  allocator_entry(head, entry);
  if (told.is_alloc) return;
  entry.kind = format::kind::free_completed;
  allocator_entry(head, entry);
}

std::unique_ptr<request_log> device_compiler::finish() {
  if (unknown_frees_) doubt("memory was freed whose allocation was not recorded");
  if (usable_at_refusal_ != 0) {
    log_.usable_bytes = usable_at_refusal_;
  } else if (free_bytes_ > most_outside_bytes_) {
    log_.usable_bytes = free_bytes_ - most_outside_bytes_;
  }
  log_.answers = answers_;
  return std::move(made_);
}

}  // namespace memtrace::allocator
