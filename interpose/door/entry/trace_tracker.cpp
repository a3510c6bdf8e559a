// SPDX-License-Identifier: Apache-2.0
#include "interpose/door/entry/trace_tracker.h"

#include <time.h>

#include <array>
#include <atomic>
#include <functional>

#include "interpose/door/entry/allocator_calls.h"
#include "interpose/door/entry/native_allocator.h"
#include "interpose/door/entry/pool_choice.h"
#include "interpose/door/entry/run_facts.h"
#include "interpose/door/entry/trace_entry.h"
#include "interpose/ground/base/errno_keeper.h"
#include "interpose/ground/base/news.h"
#include "interpose/ground/base/notice.h"
#include "interpose/ground/base/small_lock.h"
#include "interpose/ground/driver/device_log.h"
#include "interpose/ground/driver/driver_queries.h"
#include "interpose/ground/driver/native_stack.h"
#include "interpose/ground/session/session.h"
#include "interpose/sight/agent/agent.h"
#include "interpose/sight/agent/heap_scan_moments.h"
#include "interpose/sight/autograd/cast_mark.h"
#include "interpose/sight/autograd/running_node.h"
#include "interpose/sight/autograd/scope.h"
#include "interpose/sight/autograd/status.h"
#include "interpose/sight/python/python_stack.h"

namespace memtrace::trace_tracker {
namespace {

enum class stage : std::uint8_t { unattached, attached, given_up };

std::atomic<stage> the_stage{stage::unattached};
std::atomic<bool> is_attaching{false};
std::atomic<entry_layout> the_layout{entry_layout::unknown};

// An allocation, or a free request and its completion, is kept until the allocator reports it a
// moment later under the same mutex, so that all of it is recorded in one step. A process killed
// in between loses a call that had not returned.
struct pending {
  recorder* to = nullptr;  // null: nothing is kept
  bool completed = false;
  allocator_event event;
};
thread_local constinit pending kept{};

void record_kept() noexcept {
  if (kept.to == nullptr) return;
  kept.to->allocator(kept.event);
  if (kept.completed) {
    kept.event.kind = format::kind::free_completed;
    kept.to->allocator(kept.event);
  }
  kept.to = nullptr;
}

void give_up(const char* why) noexcept {
  the_stage.store(stage::given_up, std::memory_order_release);
  session::tell_event_source("reports");
  notice::log("events come from the allocator's reports: %s", why);
}

// Whether an event may begin a recording. Frees must not: a forked DataLoader worker frees what it
// inherited, and has no GPU memory of its own.
bool begins_recording(format::kind kind) noexcept {
  return kind == format::kind::alloc || kind == format::kind::segment_alloc ||
         kind == format::kind::segment_map || kind == format::kind::oom;
}

// A free that completes before the allocator reports it has the stack of its request; one that
// completes later has that of whoever noticed.
bool completes_kept(const raw_trace_entry& entry) noexcept {
  using namespace detail;
  return kind_of(entry) == format::kind::free_completed && kept.to != nullptr && !kept.completed &&
         kept.event.kind == format::kind::free_requested &&
         kept.event.address == field<std::uint64_t>(entry, address_at) &&
         kept.event.size == field<std::uint64_t>(entry, size_at) &&
         kept.event.device == static_cast<std::uint8_t>(field<std::int8_t>(entry, device_at));
}

// For each device, which recording has heard all the news about it, and how many there were.
std::array<std::atomic<std::uint64_t>, max_devices> heard{};

void tell_news(recorder& to, std::uint32_t device, std::uint64_t so_far) noexcept {
  device_log::ensure(to, device);
  allocator_methods::record_earlier_fraction(to, device);
  record_python_news(to);
  autograd::status::record_news(to);
  heard[device % max_devices].store(so_far, std::memory_order_relaxed);
}

void tell_news_if_any(recorder& to, std::uint32_t device) noexcept {
  const std::uint64_t so_far = std::uint64_t{to.generation()} << 32 | news_so_far();
  if (heard[device % max_devices].load(std::memory_order_relaxed) != so_far) [[unlikely]]
    tell_news(to, device, so_far);
}

void say_where(recorder& to, allocator_event& event) noexcept {
  const python_stack::captured here = python_stack::capture_place(to);
  event.stack = here.stack;
  // The allocator's lock is held.
  if (here.stack == 0 && event.kind == format::kind::alloc && !python_stack::is_in_process()) {
    event.stack = native_stack::capture(to, 0, native_stack::naming::none);
  }
  agent::see_steps(to, here);
  autograd::set_scope(event.scope, to, here, event.kind == format::kind::free_requested);
  agent::see_place(to, here);
  if (event.kind == format::kind::free_requested) agent::see_free(event.address);
  if (event.kind == format::kind::alloc) {
    autograd::cast_mark::allocated();
    autograd::see_allocation();
  }
}

// Called by the allocator under its device mutex, perhaps with the GIL held.
void on_entry(const raw_trace_entry& entry) {
  const errno_keeper errno_stays;
  entry_layout layout = the_layout.load(std::memory_order_relaxed);
  if (layout == entry_layout::unknown) [[unlikely]] {
    layout = recognise_layout(entry);
    the_layout.store(layout, std::memory_order_relaxed);
    if (layout == entry_layout::implausible) give_up("unknown layout of its trace entries");
  }
  if (layout == entry_layout::implausible) return;
  if (completes_kept(entry)) {
    kept.completed = true;
    return;
  }
  // Another entry before the report: as for allocations that split or map segments.
  if (kept.to != nullptr) [[unlikely]]
    record_kept();
  allocator_event& event = kept.event;
  read_entry(entry, layout, event);
  if (layout == entry_layout::without_pool) pool_choice::complete(event);
  recorder* const to = begins_recording(event.kind) ? session::start() : session::active();
  if (to == nullptr) return;
  tell_news_if_any(*to, event.device);
  if (event.kind != format::kind::snapshot) say_where(*to, event);
  if (event.kind == format::kind::alloc || event.kind == format::kind::free_requested) {
    kept.to = to;
    kept.completed = false;
  } else {
    to->allocator(event);
  }
}

// An allocation or a free that no entry of the allocator's tells of: where it came from is the stack
// that is returned.
stack_id record_report(recorder& to, const usage_report& report) noexcept {
  tell_news_if_any(to, report.device);
  const bool is_free = report.block_bytes < 0;
  allocator_event event{.kind = is_free ? format::kind::free_requested : format::kind::alloc,
                        .device = report.device,
                        .address = report.address};
  say_where(to, event);
  to.reported(report, event.scope, event.stack);
  return event.stack;
}

// Bytes that tensors have of CUDA's own pools, by device.
std::array<std::atomic<std::uint64_t>, max_devices> of_cuda_pools{};

bool attach(const native_allocator& allocator) noexcept {
  using tracker = std::function<void(const raw_trace_entry&)>;
  const auto attach_function = reinterpret_cast<void (*)(void*, tracker*)>(
      allocator.member(allocator_member::attach_tracker));
  try {
    // libstdc++'s std::function has one layout in all versions: a function pointer held inside,
    // the pointer that copies it, the pointer that calls it.
    tracker ours(&on_entry);
    attach_function(allocator.object(), &ours);
  } catch (...) {
    return false;
  }
  return true;
}

void try_to_attach() noexcept {
  if (session::is_impossible()) {
    the_stage.store(stage::given_up, std::memory_order_release);
    return;
  }
  native_allocator allocator;
  if (!allocator.find()) {
    if (allocator.library_is_loaded()) give_up("no native allocator");
    return;
  }
  const auto initialized =
      reinterpret_cast<bool (*)(void*)>(allocator.member(allocator_member::initialized));
  if (initialized == nullptr || allocator.member(allocator_member::attach_tracker) == nullptr) {
    give_up("this PyTorch's allocator is not known, it takes no trace tracker");
    notice::say(
        "this PyTorch's allocator is not known: of its memory only block sizes are "
        "recorded.");
    return;
  }
  // Before its init() a tracker would be attached to no device.
  if (!initialized(allocator.object())) return;
  if (!attach(allocator)) {
    give_up("it refused a trace tracker");
    return;
  }
  allocator_methods::replace(allocator);
  the_stage.store(stage::attached, std::memory_order_release);
  session::tell_event_source("tracker");
  notice::log("attached to the allocator's trace tracker");
}

}  // namespace

bool is_settled() noexcept {
  return the_stage.load(std::memory_order_relaxed) != stage::unattached;
}

bool entries_name_pools() noexcept {
  return the_layout.load(std::memory_order_relaxed) != entry_layout::without_pool;
}

bool attach_if_possible() noexcept {
  if (is_settled()) [[likely]]
    return true;
  // Another thread that is at it holds device mutexes that we must not wait for.
  if (is_attaching.exchange(true, std::memory_order_acquire)) return false;
  if (!is_settled()) try_to_attach();
  is_attaching.store(false, std::memory_order_release);
  return true;
}

void attach_before_allocating() noexcept {
  const errno_keeper errno_stays;
  // Threads that begin together wait for the one that attaches, or their first allocations would
  // be known by block size alone. The bound is for the case that it waits for something that
  // this thread holds (the GIL).
  constexpr int most_naps = 200;
  const timespec nap{0, 100'000};
  for (int naps = 0; !attach_if_possible() && naps < most_naps; ++naps) nanosleep(&nap, nullptr);
}

void report_usage(const usage_report& report) noexcept {
  const errno_keeper errno_stays;
  attach_if_possible();
  recorder* const to = report.block_bytes > 0 ? session::start() : session::active();
  if (to == nullptr) return;
  heap_scan_moments::see_usage(report);
  if (kept.to == to && kept.event.address == report.address && kept.event.device == report.device)
      [[likely]] {
    to->allocator_reported(kept.event, kept.completed, report);
    kept.to = nullptr;
    return;
  }
  const bool contradicts = kept.to != nullptr;
  record_kept();
  record_report(*to, report);
  to->report(report);
  if (contradicts && the_stage.load(std::memory_order_relaxed) == stage::attached) {
    the_layout.store(entry_layout::implausible, std::memory_order_relaxed);
    give_up("its trace entries contradict them");
    to->message(true,
                "the allocator's trace entries contradict its reports: only block sizes "
                "are recorded from here on");
  }
}

stack_id report_pool_block(recorder& to, std::uint32_t device, std::uint64_t address,
                           std::uint64_t asked, bool is_free) noexcept {
  constexpr std::uint64_t unit = 512;  // of CUDA's pools, and so of what PyTorch says is allocated
  const std::uint64_t bytes = (asked + unit - 1) / unit * unit;
  const auto change = static_cast<std::int64_t>(bytes);
  std::atomic<std::uint64_t>& all = of_cuda_pools[device % max_devices];
  const std::uint64_t allocated = is_free ? all.fetch_sub(bytes, std::memory_order_relaxed) - bytes
                                          : all.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  const usage_report report{.device = device,
                            .address = address,
                            .block_bytes = is_free ? -change : change,
                            .allocated = allocated};
  heap_scan_moments::see_usage(report);
  return record_report(to, report);
}

void report_out_of_memory(std::uint32_t device, std::uint64_t size) noexcept {
  const errno_keeper errno_stays;
  attach_if_possible();
  if (the_stage.load(std::memory_order_relaxed) == stage::attached) return;
  recorder* const to = session::start();
  if (to == nullptr) return;
  device_log::ensure(*to, device);
  // Of an out-of-memory event the address is what the device has free.
  const driver_queries* const driver = driver_queries::find();
  const bool is_known = driver != nullptr && driver->has_context();
  allocator_event event{.kind = format::kind::oom,
                        .device = device,
                        .address = is_known ? driver->ask_memory().free : 0,
                        .size = size};
  say_where(*to, event);
  to->allocator(event);
}

}  // namespace memtrace::trace_tracker
