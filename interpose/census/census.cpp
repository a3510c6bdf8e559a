// SPDX-License-Identifier: Apache-2.0
#include "interpose/census/census.h"

#include <pthread.h>
#include <unistd.h>

#include <exception>
#include <vector>

#include "interpose/autograd/running_node.h"
#include "interpose/autograd/tensor_layout.h"
#include "interpose/base/read_clock.h"
#include "interpose/census/take.h"
#include "interpose/census/torch_storages.h"

namespace memtrace::census {

namespace {

// A search reads objects recursively and needs some tens of KiB; Python's threads may have 32.
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

// What the last whole search did not find, or a later one less. Needs the GIL.
std::uint64_t never_found = 0;

void record(recorder& to, const findings& found) {
  std::vector<storage_event> events;
  events.reserve(found.storages.size());
  for (const named_storage& held : found.storages) {
    events.push_back({.role = format::storage_role::held,
                      .address = held.address,
                      .bytes = held.bytes,
                      .name = to.text_id(held.name),
                      .detail = to.text_id(held.detail),
                      .flags = held.flags});
  }
  to.storages(events);
}

}  // namespace

std::uint64_t take(recorder& to, format::census_reason why, const limits& at_most) noexcept {
  if (!autograd::is_confirmed() || !has_stack_left()) return 0;
  const std::uint64_t start = read_clock(CLOCK_MONOTONIC);
  to.census({.action = format::census_action::begin, .reason = why});
  census_event end{.action = format::census_action::end, .reason = why};
  try {
    // A backward pass frees what its graph has saved as it goes, in one thread for each device and
    // one for the CPU; gradients on a GPU are made by its device's thread.
    const unsigned backwards = autograd::running_backwards();
    const bool is_own = backwards == 1 && autograd::is_engines_thread() && at_most.devices == 1;
    torch_storages reader(backwards == 0 || is_own, backwards == 0);
    const findings found = find_held(reader, at_most, never_found);
    never_found = found.is_incomplete ? 0 : found.missing;
    record(to, found);
    end.bytes = found.bytes;
    if (found.is_incomplete) end.flags = format::census_incomplete;
  } catch (const std::exception&) {
    end.flags = format::census_incomplete;
  }
  end.nanoseconds = read_clock(CLOCK_MONOTONIC) - start;
  to.census(end);
  return end.nanoseconds;
}

}  // namespace memtrace::census
