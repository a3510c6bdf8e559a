// SPDX-License-Identifier: Apache-2.0
#include "interpose/hooks/call_recording.h"

#include "interpose/hooks/device_log.h"
#include "interpose/hooks/errno_keeper.h"
#include "interpose/hooks/run_facts.h"
#include "interpose/hooks/session.h"
#include "interpose/hooks/trace_tracker.h"
#include "interpose/python/python_stack.h"
#include "interpose/sampler/device_use.h"

namespace memtrace {
namespace {

// cudaErrorMemoryAllocation and CUDA_ERROR_OUT_OF_MEMORY.
constexpr int out_of_memory = 2;

bool is_device_memory(hook_id id) noexcept {
  return id == hook_id::cudaMalloc || id == hook_id::cuMemAlloc_v2 || id == hook_id::cuMemCreate;
}

const char* name_of(hook_id id) noexcept {
  return hooks[static_cast<unsigned>(id)].name;
}

}  // namespace

void before_allocation() noexcept {
  const errno_keeper errno_stays;
  if (session::is_impossible()) return;
  trace_tracker::attach_if_possible();
  device_log::sample_current();
}

void record_allocation(hook_id id, const call_facts& facts, int error) noexcept {
  const errno_keeper errno_stays;
  // A machine without a GPU, or a wrong argument, is no reason to begin a trace.
  recorder* const to = error == 0 || error == out_of_memory ? session::start() : session::active();
  if (to == nullptr) return;
  const std::uint32_t device = device_log::current();
  if (error == 0 && is_device_memory(id)) device_log::sample_after_allocation(facts.size);
  device_log::ensure(*to, device);
  device_use::answer(*to);
  to->cuda_call({.api = name_of(id),
                 .device = device,
                 .error = static_cast<std::uint32_t>(error),
                 .address = facts.address,
                 .size = facts.size,
                 .handle = facts.handle,
                 .stack = python_stack::capture(*to)});
  record_python_news(*to);
}

void record_release(hook_id id, const call_facts& facts) noexcept {
  const errno_keeper errno_stays;
  recorder* const to = session::active();
  if (to == nullptr) return;
  to->cuda_call({.api = name_of(id),
                 .device = device_log::current(),
                 .is_release = true,
                 .address = facts.address,
                 .size = facts.size,
                 .handle = facts.handle,
                 .stack = python_stack::capture(*to)});
}

void record_failed_release(hook_id id, const call_facts& facts, int error) noexcept {
  const errno_keeper errno_stays;
  recorder* const to = session::active();
  if (to == nullptr) return;
  to->cuda_undo({.api = name_of(id),
                 .device = device_log::current(),
                 .address = facts.address,
                 .handle = facts.handle,
                 .error = static_cast<std::uint32_t>(error)});
}

}  // namespace memtrace
