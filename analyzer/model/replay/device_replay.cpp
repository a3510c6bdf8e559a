// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/replay/device_replay.h"

#include <algorithm>
#include <utility>

namespace memtrace::replay {

// Until the report says the block's real size.
std::uint64_t least_block(std::uint64_t requested) {
  return std::max<std::uint64_t>((requested + 511) / 512 * 512, 512);
}

void device_replay::on_allocator(const trace::event& head, const trace::allocator_event& record) {
  sleep_changes_.clear();
  observe_allocated();
  event_ = head.number;
  time_ns_ = head.time_ns;
  graphs_.on_allocator(head, record);
  using format::kind;
  switch (record.kind) {
    case kind::alloc:
      allocate(head, record.address, record.size, least_block(record.size), record.stack);
      break;
    case kind::free_requested:
      request_free(record.address);
      break;
    case kind::free_completed:
      complete_free(record.address);
      break;
    case kind::segment_alloc:
    case kind::segment_map:
      forget_sleep(record.address, record.size);
      segments_.add(record);
      observe_reserved();
      break;
    case kind::segment_free:
    case kind::segment_unmap:
      forget_sleep(record.address, record.size);
      segments_.remove(record);
      break;
    default:
      break;
  }
}

void device_replay::on_reported(const trace::event& head, const trace::reported_event& record) {
  sleep_changes_.clear();
  observe_allocated();
  event_ = head.number;
  time_ns_ = head.time_ns;
  if (record.is_alloc) {
    allocate(head, record.address, record.block_bytes, record.block_bytes, record.stack);
  } else {
    request_free(record.address);
    complete_free(record.address);
  }
}

void device_replay::allocate(const trace::event& head, std::uint64_t address,
                             std::uint64_t requested, std::uint64_t bytes, trace::stack_id stack) {
  if (blocks_.find(address) != nullptr) {  // its free was not recorded
    request_free(address);
    complete_free(address);
    ++unknown_frees_;
  }
  const auto site = site_of(stack, head.thread);
  auto& made = blocks_.insert(address);
  made = {bytes, requested, site, false, 0};
  is_in_order_ = false;
  sites_.add(site, bytes);
  use(address, bytes);
  now_.allocated += bytes;
  now_.requested += requested;
  ++now_.blocks;
  latest_alloc_ = address;
  grown_ = true;
  if (asleep_.empty()) return;
  set_asleep(address, made, asleep_in(address, bytes));
  note_sleep();
}

void device_replay::use(std::uint64_t address, std::uint64_t bytes) {
  segments_.use(address, bytes);
  if (graphs_.is_capturing()) {
    graphs_.measure([&](const trace::pool_id& pool) { return segments_.used_in(pool); });
  }
}

void device_replay::on_operation(const trace::event& head, const trace::operation_event& record) {
  const auto changed = graphs_.on_operation(head, record);
  if (!changed) return;
  observe_allocated();
  segments_.set_replayed(*changed, graphs_.is_replayed(*changed));
}

void device_replay::request_free(std::uint64_t address) {
  auto* const found = blocks_.find(address);
  if (found == nullptr || found->pending) {
    ++unknown_frees_;
    return;
  }
  sites_.remove(found->site, found->resident());
  now_.allocated -= found->resident();
  now_.requested -= found->resident_requested();
  now_.pending += found->resident();
  --now_.blocks;
  if (found->asleep != 0) {
    now_.asleep -= found->asleep;
    sleepers_.remove(found->site, found->asleep);
    sleep_.now = now_.asleep;
  }
  found->pending = true;
}

void device_replay::complete_free(std::uint64_t address) {
  const auto* const found = blocks_.find(address);
  if (found == nullptr) return;  // request_free counted it
  if (!found->pending) request_free(address);
  now_.pending -= found->resident();
  if (found->asleep != 0) {
    segments_.sleep_used(address, ~found->asleep + 1);
    // Blocks of allocators without segments end with their memory.
    if (!segments_.has(address)) asleep_.remove({address, address + found->bytes});
  }
  segments_.release(address, found->bytes);
  blocks_.erase(address);
  is_in_order_ = false;
}

void device_replay::on_report(const trace::report_event& report) {
  sleep_changes_.clear();
  auto* const live = blocks_.find(report.address);
  if (report.block_bytes > 0 && live != nullptr && report.address == latest_alloc_) {
    const auto difference = static_cast<std::uint64_t>(report.block_bytes) - live->bytes;
    if (difference != 0) {
      live->bytes += difference;
      sites_.correct(live->site, difference);
      use(report.address, difference);
      now_.allocated += difference;
      if (!asleep_.empty()) {
        set_asleep(report.address, *live, asleep_in(report.address, live->bytes));
        note_sleep();
      }
    }
  }
  const auto allocated = report.allocated - now_.allocated - now_.asleep;
  const auto reserved = report.reserved - segments_.reserved() - segments_.asleep();
  if (counts_mismatches_ &&
      (allocated != allocated_difference_ || reserved != reserved_difference_)) {
    ++mismatches_;
  }
  allocated_difference_ = allocated;
  reserved_difference_ = reserved;
  ++reports_;
  observe_reserved();
  observe_allocated();
}

void device_replay::finish() {
  observe_allocated();
}

void device_replay::observe_allocated() {
  if (!std::exchange(grown_, false)) return;
  const bool at_most_reserved =
      segments_.reserved() + reserved_difference_ == peak_reserved_.totals.reserved;
  if (at_most_reserved && allocated() > peak_reserved_.totals.allocated) peak_reserved_ = here();
  if (allocated() <= peak_allocated_.totals.allocated) return;
  peak_allocated_ = here();
  ++peaks_;
  sites_.mark_peak();
}

void device_replay::observe_reserved() {
  if (segments_.reserved() + reserved_difference_ <= peak_reserved_.totals.reserved) return;
  peak_reserved_ = here();
}

moment device_replay::here() const {
  moment found{event_, time_ns_, totals()};
  found.totals.allocated += allocated_difference_;
  found.totals.reserved += reserved_difference_;
  return found;
}

device_totals device_replay::totals() const {
  auto found = now_;
  found.reserved = segments_.reserved();
  found.unused = segments_.unused();
  found.graph_pools = segments_.graph_pools();
  found.asleep_reserved = segments_.asleep();
  return found;
}

std::int64_t device_replay::allocated_difference() const {
  return static_cast<std::int64_t>(allocated_difference_);
}

std::int64_t device_replay::reserved_difference() const {
  return static_cast<std::int64_t>(reserved_difference_);
}

std::vector<memory_range> device_replay::blocks_in_use() const {
  std::vector<memory_range> found;
  found.reserve(blocks_.size());
  blocks_.for_each([&](std::uint64_t address, const block& live) {
    found.push_back({address, live.bytes});
  });
  return found;
}

}  // namespace memtrace::replay
