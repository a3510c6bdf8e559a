// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/replay/replay.h"

#include <algorithm>
#include <array>
#include <bit>

#include "analyzer/base/text/numbers.h"
#include "analyzer/base/text/utf8.h"
#include "memtrace/capabilities.h"
#include "memtrace/trace_format.h"

namespace memtrace::replay {

namespace {

// The recorder keeps as many names, of at most 95 characters; a damaged trace may claim more.
constexpr std::size_t most_unknown = 256;
constexpr std::size_t longest_unknown = 128;

// Looking at every live block costs time at each out-of-memory event; a program that runs into
// thousands of them gets the details of the first ones only.
constexpr std::uint64_t most_layout_work = 1u << 24;  // blocks and sites
constexpr std::size_t most_ooms = 1u << 16;
constexpr std::size_t most_refusals = 64;
constexpr std::size_t most_warnings = 64;
constexpr std::size_t most_settings = 64;
constexpr std::uint64_t no_memory = 2;  // cudaErrorMemoryAllocation, CUDA_ERROR_OUT_OF_MEMORY

// What tells of a private pool's users.
[[nodiscard]] bool is_of_pool(const trace::operation_event& record) {
  using format::operation;
  constexpr std::array all = {operation::pool_create, operation::pool_begin, operation::pool_end,
                              operation::pool_release, operation::empty_cache_begin};
  return std::ranges::any_of(
      all, [&](operation one) { return record.operation == static_cast<std::uint64_t>(one); });
}

[[nodiscard]] device_totals totals_of(const device_replay& allocator) {
  auto totals = allocator.totals();
  totals.allocated += static_cast<std::uint64_t>(allocator.allocated_difference());
  totals.reserved += static_cast<std::uint64_t>(allocator.reserved_difference());
  return totals;
}

}  // namespace

void unknown_entry_points::add(const trace::operation_event& record) {
  if (record.operation != static_cast<std::uint64_t>(format::operation::unknown_entry_point)) {
    return;
  }
  // Shortened, it may end within a character.
  unknown_entry_point found{text::valid_utf8(record.text.substr(0, longest_unknown)), record.a,
                            record.b != 0};
  const bool is_known = std::any_of(all_.begin(), all_.end(), [&](const auto& one) {
    return one.name == found.name && one.is_another == found.is_another;
  });
  if (!is_known && all_.size() < most_unknown) all_.push_back(std::move(found));
}

// As PyTorch's autograd engine names its threads.
bool is_backward_thread(const trace::dictionary& names, trace::thread_id thread) {
  return names[names[thread].name].starts_with("pt_autograd");
}

device_record& replayer::at(std::uint32_t index) {
  auto*& known = by_index_[index];
  if (known == nullptr) {
    auto made = std::make_unique<device_record>();
    made->facts.device = index;
    known = made.get();
    devices_.emplace(index, std::move(made));
  }
  return *known;
}

const device_record* replayer::device(std::uint32_t index) const {
  return index < by_index_.size() ? by_index_[index] : nullptr;
}

std::string replayer::info(std::string_view key) const {
  const auto found = info_.find(key);
  return found == info_.end() ? std::string() : found->second;
}

std::vector<std::pair<std::string, std::string>> replayer::infos(std::string_view prefix) const {
  std::vector<std::pair<std::string, std::string>> found;
  for (auto at = info_.lower_bound(prefix); at != info_.end(); ++at) {
    if (!at->first.starts_with(prefix)) break;
    found.emplace_back(at->first.substr(prefix.size()), at->second);
  }
  return found;
}

void replayer::on_info(std::string_view key, std::string_view value) {
  if (key == format::info_key::unknown_read) {
    constexpr std::size_t most_reads = 1024;
    if (unknown_reads_.size() < most_reads) unknown_reads_.emplace_back(value);
  } else if (key != format::info_key::refused) {
    info_.insert_or_assign(std::string(key), std::string(value));
  } else if (refused_.size() < capability_count) {
    refused_.emplace_back(value);
  }
}

void replayer::on_device(const trace::device_facts& facts) {
  at(facts.device).facts = facts;
}

void replayer::on_allocator(const trace::event& head, const trace::allocator_event& record) {
  auto& device = at(head.device);
  ++device.events;
  device.allocator.on_allocator(head, record);
  const bool makes =
      record.kind == format::kind::segment_alloc || record.kind == format::kind::segment_map;
  if (makes || record.kind == format::kind::segment_free ||
      record.kind == format::kind::segment_unmap) {
    driver_.segment(record.address, record.size, makes);
  }
  if (record.kind == format::kind::alloc || record.kind == format::kind::oom) {
    if (device.call_failed) ++device.retries;
    device.call_failed = false;
  }
  if (record.kind == format::kind::alloc) {
    count_stack(head, record.stack);
    went_on(head.device);
  }
  if (record.kind == format::kind::oom) run_out(head, record, device);
}

void replayer::on_report(const trace::report_event& report) {
  auto& device = at(report.device);
  const auto peak_before = device.allocator.peak_allocated().event;
  device.allocator.on_report(report);
  if (device.allocator.peak_allocated().event != peak_before) {
    device.driver_at_peak = driver_.on_device(report.device);
  }
}

void replayer::on_reported(const trace::event& head, const trace::reported_event& record) {
  auto& device = at(head.device);
  ++device.events;
  device.allocator.on_reported(head, record);
  if (record.is_alloc) {
    count_stack(head, record.stack);
    went_on(head.device);
  }
}

void replayer::on_operation(const trace::event& head, const trace::operation_event& record) {
  unknown_.add(record);
  if (record.operation == static_cast<std::uint64_t>(format::operation::memory_fraction)) {
    at(head.device).memory_fraction = std::bit_cast<double>(record.a);
  }
  if (is_of_pool(record)) at(head.device).allocator.on_operation(head, record);
  if (record.operation == static_cast<std::uint64_t>(format::operation::gap)) {
    for (auto& [index, device] : devices_) device->allocator.lose_count();
  }
  if (record.operation == static_cast<std::uint64_t>(format::operation::settings) &&
      record.a == 0) {
    std::erase(settings_, record.text);
    if (settings_.size() == most_settings) settings_.erase(settings_.begin());
    settings_.emplace_back(record.text);
  }
}

void replayer::on_cuda_call(const trace::event& head, const trace::cuda_call_event& call) {
  const auto api = names_[call.api];
  driver_.call(head, api, call);
  if (const auto backing = backing_calls::of(api, call)) {
    backing_.remember(*backing);
    change_backing(head, *backing);
  }
  if (call.release || place_of(api) != memory_place::device) return;
  auto& device = at(head.device);
  if (call.error != 0) device.call_failed = true;
  // A tensor of CUDA's own pool, which was reported a moment before, is PyTorch's.
  if (call.error == 0 && device.allocator.is_block_of(call.address, call.size)) {
    driver_.segment(call.address, call.size, true);
  }
  if (call.error == no_memory && call.has_owner && outside_refusals_.size() < most_refusals) {
    outside_refusals_.push_back({head.device, head.time_ns, call.size, totals_of(device.allocator),
                                 call.owner, call.stack, head.thread});
    ++open_refusals_;
  }
  if (call.error == 0 && call.has_owner) outside_went_on(head.device);
}

void replayer::on_cuda_undo(const trace::event& head, const trace::cuda_undo_event& failed) {
  const auto api = names_[failed.api];
  driver_.undo(head, api, failed);
  if (const auto backing = backing_.undone(api, failed)) change_backing(head, *backing);
}

void replayer::change_backing(const trace::event& head, const backing_change& what) {
  for (auto& [index, device] : devices_) {
    if (!device->allocator.on_backing(head, what)) continue;
    if (what.is_backed) {
      driver_.segment(what.where.begin, what.where.bytes(), true);
    } else {
      driver_.fell_asleep();
    }
    if (device->allocator.peak_allocated().event == head.number) {
      device->driver_at_peak = driver_.on_device(index);
    }
  }
}

std::vector<std::uint32_t> replayer::concerned_by(const std::optional<backing_change>& what) {
  std::vector<std::uint32_t> found;
  if (!what) return found;
  for (auto& [index, device] : devices_) {
    if (device->allocator.concerns(*what)) found.push_back(index);
  }
  return found;
}

std::vector<std::uint32_t> replayer::sleeping_on(const trace::cuda_call_event& call) {
  return concerned_by(backing_calls::of(names_[call.api], call));
}

std::vector<std::uint32_t> replayer::sleeping_on(const trace::cuda_undo_event& failed) {
  return concerned_by(backing_.undone(names_[failed.api], failed));
}

void replayer::on_message(const trace::event&, const trace::message_event& record) {
  if (record.severity != 0 && warnings_.size() < most_warnings) warnings_.emplace_back(record.text);
}

void replayer::run_out(const trace::event& head, const trace::allocator_event& record,
                       device_record& device) {
  if (ooms_.size() >= most_ooms) return;
  auto& allocator = device.allocator;
  out_of_memory found;
  found.device = head.device;
  found.event = head.number;
  found.time_ns = head.time_ns;
  found.requested = record.size;
  found.device_free = record.device_free;
  found.totals = totals_of(allocator);
  // Tensors of CUDA's own pools lie in nothing that PyTorch reserved.
  if (found.totals.reserved == 0) found.totals.reserved = found.totals.allocated;
  found.allowed = device.allowed();
  if (found.allowed) {
    const auto counted = found.totals.reserved + found.totals.asleep_reserved;
    const auto left = *found.allowed - std::min(*found.allowed, counted);
    found.device_free = std::min(found.device_free, left);
  }
  found.stack = record.stack;
  found.forward = head.scope.forward;
  found.thread = head.thread;
  layout_work_ +=
      allocator.live_blocks() + allocator.segments().segments().size() + allocator.sites().size();
  if (layout_work_ <= most_layout_work) {
    found.has_layout = true;
    found.free =
        find_largest_free(allocator.segments().segments(), allocator.blocks_in_use(), record);
    found.holders = allocator.sites().now();
  }
  ooms_.push_back(std::move(found));
}

void replayer::count_stack(const trace::event& head, trace::stack_id stack) {
  ++stacks_.allocations;
  if (stack) return;
  ++(is_backward_thread(names_, head.thread) ? stacks_.backward : stacks_.unresolved);
}

void replayer::went_on(std::uint32_t device) {
  for (; judged_ooms_ < ooms_.size(); ++judged_ooms_) ooms_[judged_ooms_].caught = true;
  outside_went_on(device);
}

// An error that the main thread, or autograd for it, did not catch would have ended it otherwise.
void replayer::ended_well() {
  const auto main_thread = text::number_in(info(format::info_key::main_thread));
  const auto judge = [&](auto& refusal) {
    const bool is_of_main = names_[refusal.thread].system_id == main_thread ||
                            is_backward_thread(names_, refusal.thread);
    if (!refusal.caught && is_of_main) refusal.caught = refusal.ended_well = true;
  };
  for (auto& one : ooms_) judge(one);
  for (auto& one : outside_refusals_) judge(one);
}

void replayer::outside_went_on(std::uint32_t device) {
  if (open_refusals_ == 0) return;
  for (auto& one : outside_refusals_) {
    if (one.caught || one.device != device) continue;
    one.caught = true;
    --open_refusals_;
  }
}

void replayer::finish() {
  if (info(format::info_key::exit_status) == "0") ended_well();
  for (auto& [index, device] : devices_) device->allocator.finish();
}

const out_of_memory* decisive(const std::vector<out_of_memory>& ooms) {
  if (ooms.empty()) return nullptr;
  const auto fatal = std::ranges::find(ooms, false, &out_of_memory::caught);
  return fatal == ooms.end() ? &ooms.front() : &*fatal;
}

}  // namespace memtrace::replay
