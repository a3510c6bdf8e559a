// SPDX-License-Identifier: Apache-2.0
//
// A recording of a process that was started without the library: loaded now, it has bound nobody.
//
//   memtrace_start()  the tables of all libraries are corrected, the allocator's tracker is attached
//   memtrace_found()  for each segment and block that PyTorch's snapshot has: as if it were made now
//
// memtrace.start() of the Python package calls them (python/memtrace/_start.py).
#include <array>
#include <cstddef>
#include <cstdio>
#include <iterator>

#include "interpose/door/entry/trace_tracker.h"
#include "interpose/ground/base/errno_keeper.h"
#include "interpose/ground/base/exported.h"
#include "interpose/ground/base/settings.h"
#include "interpose/ground/driver/device_log.h"
#include "interpose/ground/loader/deep_binding.h"
#include "interpose/ground/session/session.h"
#include "memtrace/user_code.h"

namespace {

using memtrace::errno_keeper;
using memtrace::recorder;
namespace format = memtrace::format;
namespace session = memtrace::session;

// By device. Two threads of one process do not start it.
std::array<std::uint64_t, memtrace::max_devices> allocated{};
std::array<std::uint64_t, memtrace::max_devices> reserved{};

}  // namespace

// As memtrace.start() hands them over, one at a time.
struct memtrace_found_memory {
  std::uint32_t device;
  std::uint32_t kind;  // 0: a block; 1: a segment; 2: a range that is mapped
  std::uint64_t address;
  std::uint64_t size;       // bytes of the segment or block
  std::uint64_t requested;  // of a block
  std::uint64_t stream;
  std::uint64_t pool[2];
};

// 1 when everything is recorded from here on, 0 where nothing can be (MEMTRACE_DISABLE, no file,
// MEMTRACE_DEEP_BINDING=0: the tables are to be left alone).
// `taken`: the bytes that PyTorch has reserved by now on each of `devices` devices, so that they are
// not taken for the context's.
MEMTRACE_EXPORTED int memtrace_start(const std::uint64_t* taken, std::uint32_t devices) {
  const errno_keeper errno_stays;
  using memtrace::settings::is_on;
  if (session::is_impossible() || !is_on(memtrace::capability::deep_binding)) return 0;
  for (std::uint32_t device = 0; device < devices; ++device) {
    memtrace::device_log::taken_before(device, taken[device]);
  }
  memtrace::device_log::sample_current();
  memtrace::deep_binding::bind_everything();
  memtrace::trace_tracker::attach_before_allocating();
  if (devices == 0) return 1;  // the first use of the GPU begins it
  return session::start() == nullptr ? 0 : 1;
}

MEMTRACE_EXPORTED void memtrace_found(const memtrace_found_memory* found) {
  const errno_keeper errno_stays;
  recorder* const to = session::active();
  if (to == nullptr || found->device >= memtrace::max_devices) return;
  constexpr format::kind kinds[] = {format::kind::alloc, format::kind::segment_alloc,
                                    format::kind::segment_map};
  const bool is_block = found->kind == 0;
  constexpr memtrace::stack_frame nowhere[] = {{format::before_recording, {}}};
  const memtrace::allocator_event event{.kind = kinds[found->kind % std::size(kinds)],
                                        .device = found->device,
                                        .address = found->address,
                                        .size = is_block ? found->requested : found->size,
                                        .stream = found->stream,
                                        .pool = {found->pool[0], found->pool[1]},
                                        .stack = to->intern(nowhere)};
  if (!is_block) {
    reserved[found->device] += found->size;
    return to->allocator(event);
  }
  allocated[found->device] += found->size;
  to->allocator_reported(event, false,
                         {.device = found->device,
                          .address = found->address,
                          .block_bytes = static_cast<std::int64_t>(found->size),
                          .allocated = allocated[found->device],
                          .reserved = reserved[found->device]});
}

MEMTRACE_EXPORTED void memtrace_stop() {
  const errno_keeper errno_stays;
  session::end();
}

// After the last of them: how many bytes were allocated already.
MEMTRACE_EXPORTED void memtrace_found_all(std::uint64_t bytes) {
  const errno_keeper errno_stays;
  recorder* const to = session::active();
  if (to == nullptr) return;
  char text[24];
  std::snprintf(text, sizeof text, "%llu", static_cast<unsigned long long>(bytes));
  to->info(format::info_key::found, text);
}
