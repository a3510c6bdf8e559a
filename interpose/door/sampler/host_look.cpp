// SPDX-License-Identifier: Apache-2.0
#include "interpose/door/sampler/host_look.h"

#include <dlfcn.h>

#include <algorithm>

#include "interpose/ground/base/read_clock.h"
#include "memtrace/host_samples.h"

namespace memtrace::sampler {
namespace {

double as_value(std::uint64_t bytes) noexcept {
  return static_cast<double>(bytes);
}

// A value that finds no room in the recorder's slot comes with the next look.
template <std::size_t count>
bool record(recorder& to, const std::array<counter_value, count>& values) noexcept {
  return to.samples(values);
}

}  // namespace

void host_look::define_names(recorder& to) noexcept {
  namespace host = format::host;
  ids_ = {.resident = to.text_id(host::resident),
          .kept = to.text_id(host::kept),
          .heap_free = to.text_id(host::heap_free),
          .proportional = to.text_id(host::proportional),
          .workers = to.text_id(host::workers),
          .workers_proportional = to.text_id(host::workers_proportional),
          .workers_kept = to.text_id(host::workers_kept),
          .worker = to.text_id(host::worker),
          .worker_proportional = to.text_id(host::worker_proportional),
          .limit = to.text_id(host::limit),
          .limit_used = to.text_id(host::limit_used),
          .limit_from = to.text_id(host::limit_from)};
}

void host_look::begin() noexcept {
  limit_.find(buffer_);
  simulator_holds_ =
      reinterpret_cast<std::size_t (*)()>(dlsym(RTLD_DEFAULT, "memtrace_simulator_holds"));
  // Another malloc's figures mean something else, and those of the C library nothing beside it.
  void* const ask = dlsym(RTLD_DEFAULT, "mallinfo2");
  Dl_info its{};
  Dl_info mallocs{};
  const bool is_own = ask != nullptr && dladdr(ask, &its) != 0 &&
                      dladdr(dlsym(RTLD_DEFAULT, "malloc"), &mallocs) != 0 &&
                      its.dli_fbase == mallocs.dli_fbase;
  ask_heap_ = is_own ? reinterpret_cast<heap_facts (*)()>(ask) : nullptr;
}

void host_look::process(recorder& to) noexcept {
  const auto memory = resident_of(this_process, buffer_);
  if (!memory) return;
  own_resident_ = memory->resident;
  const std::uint64_t simulated = simulator_holds_ == nullptr ? 0 : simulator_holds_();
  const auto kept = memory->kept - std::min<std::uint64_t>(memory->kept, simulated);
  (void)record<2>(to, {{{ids_.resident, as_value(memory->resident)}, {ids_.kept, as_value(kept)}}});
  record_heap(to, kept);
  record_limit(to, *memory);
}

// The heap is locked while its free chunks are counted: 10 µs for a thousand of them, 1.7 ms for 20,000
// and 130 ms for half a million. A heap of so many that it takes a millisecond is not asked again.
void host_look::record_heap(recorder& to, std::uint64_t kept) noexcept {
  constexpr std::uint64_t much = 64 << 20;
  const std::uint64_t change = kept > kept_at_heap_ ? kept - kept_at_heap_ : kept_at_heap_ - kept;
  if (ask_heap_ == nullptr || change < much) return;
  constexpr std::uint64_t too_long = 1'000'000;
  const std::uint64_t before = read_clock(CLOCK_THREAD_CPUTIME_ID);
  const heap_facts found = ask_heap_();
  if (read_clock(CLOCK_THREAD_CPUTIME_ID) - before > too_long) ask_heap_ = nullptr;
  if (record<1>(to, {{{ids_.heap_free, as_value(found.free)}}})) kept_at_heap_ = kept;
}

void host_look::record_limit(recorder& to, const resident_memory& process) noexcept {
  const auto nearest = limit_.nearest(process, buffer_);
  if (!nearest) return;
  const bool is_known = nearest->limit == last_limit_.limit && nearest->from == last_limit_.from;
  if (is_known) {
    (void)record<1>(to, {{{ids_.limit_used, as_value(nearest->used)}}});
    return;
  }
  const bool recorded = record<3>(to, {{{ids_.limit, as_value(nearest->limit)},
                                        {ids_.limit_from, static_cast<double>(nearest->from)},
                                        {ids_.limit_used, as_value(nearest->used)}}});
  if (recorded) last_limit_ = *nearest;
}

bool host_look::children(recorder& to) noexcept {
  below_.find(buffer_);
  std::uint64_t count = 0;
  std::uint64_t kept = 0;
  below_resident_ = 0;
  for (const std::uint64_t child : below_.found()) {
    const auto memory = resident_of(child, buffer_);
    if (!memory) continue;
    ++count;
    kept += memory->kept;
    below_resident_ += memory->resident;
  }
  (void)record<2>(to, {{{ids_.workers, as_value(count)}, {ids_.workers_kept, as_value(kept)}}});
  return below_.has_new();
}

void host_look::page_tables(recorder& to, const std::atomic<std::uint32_t>& stop) noexcept {
  if (const auto own = proportional_of(this_process, buffer_)) {
    (void)record<1>(to, {{{ids_.proportional, as_value(*own)}}});
  }
  std::uint64_t proportional = 0;
  for (const std::uint64_t child : below_.found()) {
    if (stop.load(std::memory_order_relaxed) != 0) return;
    const auto pages = proportional_of(child, buffer_);
    if (!pages) continue;
    proportional += *pages;
    (void)record<2>(
        to, {{{ids_.worker, as_value(child)}, {ids_.worker_proportional, as_value(*pages)}}});
  }
  (void)record<1>(to, {{{ids_.workers_proportional, as_value(proportional)}}});
}

}  // namespace memtrace::sampler
