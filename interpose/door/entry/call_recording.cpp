// SPDX-License-Identifier: Apache-2.0
#include "interpose/door/entry/call_recording.h"

#include <unistd.h>

#include <atomic>

#include "interpose/door/entry/run_facts.h"
#include "interpose/door/entry/trace_tracker.h"
#include "interpose/door/sampler/process_watch.h"
#include "interpose/ground/base/settings.h"
#include "interpose/ground/driver/call_owner.h"
#include "interpose/ground/driver/device_log.h"
#include "interpose/ground/driver/driver_queries.h"
#include "interpose/ground/driver/known_memory.h"
#include "interpose/ground/driver/native_stack.h"
#include "interpose/sight/agent/agent.h"
#include "interpose/sight/python/python_stack.h"

namespace memtrace {
namespace {

using format::cuda_effect;

// cudaErrorMemoryAllocation and CUDA_ERROR_OUT_OF_MEMORY.
constexpr int out_of_memory = 2;

// Whether a device's own context, which the runtime uses, lives; false where the driver does not
// say.
bool is_primary_context_active(std::uint32_t device) noexcept {
  const driver_queries* const driver = driver_queries::find();
  unsigned flags = 0;
  int active = 0;
  return driver != nullptr && driver->primary_state != nullptr &&
         driver->primary_state(static_cast<int>(device), &flags, &active) == 0 && active != 0;
}

// Whether graphs of this process hold memory: only then is a launch worth a record.
std::atomic<bool> graphs_allocate{false};

const char* name_of(hook_id id) noexcept {
  return hooks[static_cast<unsigned>(id)].name;
}

bool is_launch(hook_id id) noexcept {
  return id == hook_id::cudaGraphLaunch || id == hook_id::cudaGraphLaunch_ptsz ||
         id == hook_id::cuGraphLaunch || id == hook_id::cuGraphLaunch_ptsz;
}

bool is_checkpoint(hook_id id) noexcept {
  return id == hook_id::cuCheckpointProcessLock || id == hook_id::cuCheckpointProcessCheckpoint ||
         id == hook_id::cuCheckpointProcessRestore || id == hook_id::cuCheckpointProcessUnlock;
}

// A device's own context taken into use, not one more made.
bool is_retain(hook_id id) noexcept {
  return id == hook_id::cuDevicePrimaryCtxRetain;
}

// A pool of this process, not one that another made known.
bool is_own_pool(hook_id id) noexcept {
  return id == hook_id::cuMemPoolCreate || id == hook_id::cudaMemPoolCreate;
}

std::uint32_t device_of(const call_facts& facts) noexcept {
  // A number that no device has was the program's mistake, and the call failed.
  const int given = facts.place.device;
  if (given >= 0 && given < known_memory::device_count()) return static_cast<std::uint32_t>(given);
  if (facts.place.device == call_arguments::recorded) {
    if (const auto known = known_memory::device_of_address(facts.address)) return *known;
    if (const auto known = known_memory::device_of_handle(facts.handle)) return *known;
  }
  return device_log::current();
}

// The stack. Where PyTorch's caching allocator does not serve (another backend, no caching), these
// calls are the events that bring the agent.
stack_id python_place(recorder& to) noexcept {
  const python_stack::captured here = python_stack::capture_place(to);
  agent::see_steps(to, here);
  agent::see_place(to, here);
  return here.stack;
}

// Python's, and the native frames where they are wanted, where the driver is asked directly (a
// library's own code says more about that than the line of Python that called it), and for memory
// of a program that has no Python, whose lines they are.
stack_id stack_of(recorder& to, const recorded_call& call, std::string_view owner,
                  bool allocates) noexcept {
  const stack_id python = python_place(to);
  const bool is_direct = allocates && owner.data() != nullptr &&
                         hooks[static_cast<unsigned>(call.id)].family == library_family::driver;
  const bool is_only_line = allocates && python == 0 && !python_stack::is_in_process();
  return is_direct || is_only_line || settings::is_on(capability::native_stacks)
             ? native_stack::capture(to, python)
             : python;
}

// The call as the trace has it, if its stream is being captured.
struct call_as_recorded {
  const char* api;
  cuda_effect effect;
  std::uint64_t handle;
};

call_as_recorded as_recorded(const recorded_call& call, const call_facts& facts) noexcept {
  if (const char* captured = stream_capture::captured_name(call.id); captured != nullptr) {
    if (const auto graph = stream_capture::graph_of(call.id, facts.place.stream)) {
      return {captured, format::effect_of(captured), *graph};
    }
  }
  return {name_of(call.id), call.effect, facts.handle};
}

// How PyTorch's allocator of backend:cudaMallocAsync takes and gives back a tensor's memory.
bool is_of_pool(hook_id id) noexcept {
  switch (id) {
    case hook_id::cudaMallocAsync:
    case hook_id::cudaMallocAsync_ptsz:
    case hook_id::cudaFreeAsync:
    case hook_id::cudaFreeAsync_ptsz:
      return true;
    default:
      return false;
  }
}

bool lives_in_a_context(cuda_effect effect) noexcept {
  return effect == cuda_effect::device || effect == cuda_effect::managed ||
         effect == cuda_effect::pinned || effect == cuda_effect::registered;
}

// By what its end names it.
bool has_a_handle(cuda_effect effect) noexcept {
  switch (effect) {
    case cuda_effect::physical:
    case cuda_effect::pool:
    case cuda_effect::array:
    case cuda_effect::foreign_physical:
    case cuda_effect::multicast:
    case cuda_effect::context:
    case cuda_effect::module:
      return true;
    default:
      return false;
  }
}

void remember(cuda_effect effect, const call_facts& facts, std::uint32_t device) noexcept {
  if (has_a_handle(effect)) known_memory::remember_handle(facts.handle, device);
  known_memory::remember_address(facts.address, device);
}

// Remembers what later calls need to know about one that succeeded.
void note_allocation(recorder& to, const recorded_call& call, cuda_effect effect,
                     const call_facts& facts, std::uint32_t device,
                     std::uint64_t used_before) noexcept {
  remember(effect, facts, device);
  if (effect == cuda_effect::graph_memory) graphs_allocate.store(true, std::memory_order_relaxed);
  if (effect == cuda_effect::pool && is_own_pool(call.id)) {
    device_use::pool_made(facts.handle, device);
  }
  if (effect == cuda_effect::context) {
    if (is_retain(call.id)) {
      known_memory::remember_primary_context(static_cast<int>(device), facts.handle);
    } else {
      made_contexts::add(facts.handle);
    }
    device_log::context_made(device, facts.handle, used_before);
  }
  device_use::took(to, device, effect, facts.size);
}

void end_device(std::uint32_t device) noexcept {
  device_log::device_ended(device);
  process_watch::device_ended(device);
}

}  // namespace

void before_allocation() noexcept {
  trace_tracker::attach_if_possible();
  device_log::sample_current();
}

std::uint64_t before_context(const call_facts& wanted) noexcept {
  if (!settings::is_on(capability::sampling)) return 0;
  return device_log::current() == device_of(wanted) ? device_log::used_bytes() : 0;
}

void record_allocation(const recorded_call& call, call_facts facts, int error,
                       std::uint64_t used_before) noexcept {
  // A machine without a GPU, or a wrong argument, is no reason to begin a trace. Nor may one begin
  // inside the runtime, which makes contexts under a lock of its own: it is asked for its version.
  const bool may_begin =
      (error == 0 || error == out_of_memory) &&
      (class_of(call.effect) == call_class::memory || !is_from_cuda(call.caller));
  recorder* const to = may_begin ? session::start() : session::active();
  if (to == nullptr) return;
  const std::uint32_t device = device_of(facts);
  const call_as_recorded seen = as_recorded(call, facts);
  if (error == 0) {
    facts.handle = seen.handle;
    if (lives_in_a_context(seen.effect)) facts.handle = made_contexts::current();
    if (seen.effect == cuda_effect::device || seen.effect == cuda_effect::physical) {
      device_log::sample_after_allocation(facts.size);
    }
  }
  device_log::ensure(*to, device);
  const std::string_view owner = owner_of(call.caller);
  const bool is_tensor = is_of_pool(call.id) && is_from_allocator(call.caller);
  if (is_tensor && error == 0) known_memory::remember_size(facts.address, facts.size);
  const stack_id stack =
      is_tensor && error == 0
          ? trace_tracker::report_pool_block(*to, device, facts.address, facts.size, false)
          : stack_of(*to, call, owner, true);
  to->cuda_call({.api = seen.api,
                 .device = device,
                 .error = static_cast<std::uint32_t>(error),
                 .address = facts.address,
                 .size = facts.size,
                 .handle = facts.handle,
                 .stack = stack,
                 .owner = owner});
  if (is_tensor && error == out_of_memory) trace_tracker::report_out_of_memory(device, facts.size);
  record_python_news(*to);
  if (error == 0) note_allocation(*to, call, seen.effect, facts, device, used_before);
}

void release_in_progress::begin(const call_facts& facts) noexcept {
  recorder* const to = session::active();
  facts_ = facts;
  if (to == nullptr || !says_something()) return;
  device_ = device_of(facts_);
  const call_as_recorded seen = as_recorded(call_, facts_);
  api_ = seen.api;
  facts_.handle = seen.handle;
  device_use::gives_back(*to, device_);
  const std::string_view owner = owner_of(call_.caller);
  const bool is_tensor = is_of_pool(call_.id) && is_from_allocator(call_.caller);
  const std::uint64_t bytes = is_tensor ? known_memory::forget_size(facts_.address) : 0;
  const stack_id stack =
      bytes != 0 ? trace_tracker::report_pool_block(*to, device_, facts_.address, bytes, true)
                 : stack_of(*to, call_, owner, false);
  to->cuda_call({.api = api_,
                 .device = device_,
                 .is_release = true,
                 .address = facts_.address,
                 .size = facts_.size,
                 .handle = facts_.handle,
                 .stack = stack,
                 .owner = owner});
  // Before the real call: the address may be another's right after it.
  known_memory::forget_address(facts_.address);
  // Nobody may ask about a pool that is being destroyed.
  if (call_.effect == cuda_effect::pool_end) device_use::pool_ends(facts_.handle);
}

void release_in_progress::end(int error) noexcept {
  if (api_ == nullptr) return;
  if (error == 0) {
    if (call_.effect == cuda_effect::device_end) end_device(device_);
    if (call_.effect == cuda_effect::context_end) {
      device_log::context_ends(facts_.handle);
      made_contexts::remove(facts_.handle);
    }
    return;
  }
  known_memory::remember_address(facts_.address, device_);
  recorder* const to = session::active();
  if (to == nullptr) return;
  to->cuda_undo({.api = api_,
                 .device = device_,
                 .address = facts_.address,
                 .handle = facts_.handle,
                 .error = static_cast<std::uint32_t>(error)});
}

void record_note(const recorded_call& call, const call_facts& facts, int error) noexcept {
  recorder* const to = session::active();
  if (to == nullptr) return;
  const bool launches = is_launch(call.id);
  if (launches && !graphs_allocate.load(std::memory_order_relaxed)) return;
  // Only the last of its users ends a device's own context.
  const bool ends = call.effect == cuda_effect::context_end;
  const std::uint32_t device = device_of(facts);
  if (ends && (error != 0 || is_primary_context_active(device))) return;
  if (is_checkpoint(call.id) && facts.handle != static_cast<std::uint64_t>(getpid())) {
    return;  // of another process, or nothing was done
  }
  device_log::ensure(*to, device);
  const std::string_view owner = owner_of(call.caller);
  to->cuda_call({.api = name_of(call.id),
                 .device = device,
                 .is_release = ends,
                 .error = static_cast<std::uint32_t>(error),
                 .address = facts.address,
                 .size = facts.size,
                 .handle = facts.handle,
                 .stack = stack_of(*to, call, owner, false),
                 .owner = owner});
  if (error != 0) return;
  if (ends) end_device(device);
  if (launches) device_use::took(*to, device, cuda_effect::graph_memory, 0);
}

void record_node(hook_id adds, hook_id frees, const void* caller, const void* node,
                 std::uint64_t graph) noexcept {
  const call_arguments::memory_node found = call_arguments::node_of(node);
  if (found.allocates) {
    record_allocation({adds, cuda_effect::graph_memory, caller},
                      {found.address, found.bytes, graph, found.device}, 0, 0);
  } else if (found.frees) {
    release_in_progress release({frees, cuda_effect::graph_release, caller});
    release.begin({found.address, 0, graph, call_arguments::recorded});
    release.end(0);
  }
}

}  // namespace memtrace
