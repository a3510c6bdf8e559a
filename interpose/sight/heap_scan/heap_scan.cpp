// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/heap_scan/heap_scan.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string_view>
#include <utility>
#include <vector>

#include "interpose/ground/base/read_clock.h"
#include "interpose/ground/session/refusals.h"
#include "interpose/sight/autograd/is_allowed.h"
#include "interpose/sight/autograd/running_node.h"
#include "interpose/sight/autograd/tensor_layout.h"
#include "interpose/sight/heap_scan/deadline.h"
#include "interpose/sight/heap_scan/take.h"
#include "interpose/sight/heap_scan/torch_storages.h"
#include "memtrace/user_code.h"

namespace memtrace::heap_scan {

namespace {

// pt_autograd_0, …
bool is_engines(const char* thread) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%.20s/comm", thread);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;  // it has ended
  char name[32];
  const ssize_t size = read(file, name, sizeof name);
  close(file);
  return size > 0 &&
         std::string_view(name, static_cast<std::size_t>(size)).starts_with("pt_autograd");
}

// Whether this process has threads of autograd's engine, which the first backward pass on a GPU
// starts and which stay: without one there has been none. Also where that cannot be told.
bool engine_has_threads() noexcept {
  DIR* const threads = opendir("/proc/self/task");
  if (threads == nullptr) return true;
  bool found = false;
  while (const dirent* entry = found ? nullptr : readdir(threads)) {
    found = is_engines(entry->d_name);
  }
  closedir(threads);
  return found;
}

// Needs the GIL. What the last search did not find is not looked for again.
beyond beyond_users;

// After so many that were cut off there are no more: the program is too large to be searched.
constexpr unsigned most_cut_off = 2;
unsigned users_cut_off = 0;

// Only a whole search tells that no name leads to what is missing. Where one beyond the user's code
// was cut off, those after it may take so many times as long, until one has needed that.
constexpr std::uint64_t longer = 5;

void learn(const findings& found, bool was_long) noexcept {
  beyond_users.never_found = found.is_cut_off ? 0 : found.missing;
  if (was_long && beyond_users.times_as_long != 1) beyond_users.is_allowed = false;
  if (!found.is_incomplete) return;
  if (!found.is_cut_off) {
    if (found.went_beyond) beyond_users.times_as_long = longer;
  } else if (++users_cut_off == most_cut_off) {
    refusals::refuse(capability::census,
                     "two searches were cut off, at 100 ms or 2 million objects");
  }
}

void record(recorder& to, const findings& found) {
  std::vector<storage_event> events;
  events.reserve(found.storages.size());
  std::string_view latest_file;
  for (const named_storage& held : found.storages) {
    if (held.owners_file != latest_file && is_user_code(held.owners_file)) {
      latest_file = held.owners_file;
      to.sources().meet(to.text_id(latest_file), latest_file);
    }
    events.push_back({.role = format::storage_role::held,
                      .address = held.address,
                      .bytes = held.bytes,
                      .name = to.text_id(held.name),
                      .detail = to.text_id(held.detail),
                      .flags = held.flags});
  }
  to.storages(events);
}

// Graphs change without the GIL while a backward pass runs, so they are read only where such a pass
// would be known of, or none can have been.
struct readable {
  bool gradients = false;
  bool graphs = false;
};

readable what_is_readable(const autograd::readable_memory& memory, const limits& at_most) noexcept {
  if (!autograd::is_allowed()) return {};
  if (!autograd::backwards_are_seen() && engine_has_threads()) return {};
  const unsigned backwards = autograd::running_backwards();
  // A backward pass frees what its graph has saved as it goes, in one thread for each device and
  // one for the CPU; gradients on a GPU are made by its device's thread.
  const bool is_own = backwards == 1 && autograd::is_engines_thread() && at_most.devices == 1;
  if (!memory.is_direct()) {
    refusals::refuse(capability::graph_walks, "process_vm_readv is forbidden here");
  }
  return {backwards == 0 || is_own,
          backwards == 0 && refusals::is_allowed(capability::graph_walks)};
}

}  // namespace

bool has_stack_left() noexcept {
  constexpr std::uintptr_t enough = 192u << 10;
  if (gettid() == getpid()) return true;  // its stack grows
  pthread_attr_t own;
  if (pthread_getattr_np(pthread_self(), &own) != 0) return false;
  void* lowest = nullptr;
  std::size_t bytes = 0;
  const bool known = pthread_attr_getstack(&own, &lowest, &bytes) == 0;
  pthread_attr_destroy(&own);
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return known && here - reinterpret_cast<std::uintptr_t>(lowest) > enough;
}

outcome take(recorder& to, format::census_reason why, const limits& at_most) noexcept {
  outcome result;
  if (!autograd::is_confirmed() || !has_stack_left()) return result;
  if (!refusals::is_allowed(capability::census)) return result;
  const std::uint64_t start = read_clock(CLOCK_MONOTONIC);
  const waiting_time waited;
  to.census({.action = format::census_action::begin, .reason = why});
  heap_scan_event end{.action = format::census_action::end, .reason = why};
  try {
    const autograd::readable_memory memory;
    const readable may_read = what_is_readable(memory, at_most);
    torch_storages reader(memory, may_read.gradients, may_read.graphs);
    // Where memory has run out, what keeps it is worth more than the time, which is spent once.
    beyond now = beyond_users;
    limits wanted = at_most;
    if (why == format::census_reason::out_of_memory) {
      now = {now.never_found, true, longer};
      wanted.shapes = true;
    }
    findings found = find_held(reader, wanted, now);
    record(to, found);
    step_lengths::choose(std::move(found.containers));
    learn(found, found.went_beyond && read_clock(CLOCK_MONOTONIC) - start > at_most.nanoseconds);
    end.bytes = found.bytes;
    result.is_complete = !found.is_incomplete;
    if (reader.has_left_out_graphs()) end.flags = format::census_without_graphs;
  } catch (const std::exception&) {
  }
  if (!result.is_complete) {
    end.flags |= format::census_incomplete;
  }
  const std::uint64_t taken = read_clock(CLOCK_MONOTONIC) - start;
  result.nanoseconds = end.nanoseconds = taken - std::min(waited.so_far_ns(), taken);
  to.census(end);
  return result;
}

}  // namespace memtrace::heap_scan
