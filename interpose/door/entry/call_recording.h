// SPDX-License-Identifier: Apache-2.0
//
// The work of every wrapper of a recorded CUDA call around the real one. No lock is held across the
// real call, and its result goes back untouched.
//
//   ALLOCATES   real call ─► record                   (failures too, if a recording runs)
//   RELEASES    record ─► real call ─► cuda_undo if it failed: the address may be reused at once
//   NOTES       real call ─► record, if a recording runs
//
// A call that another recorded call of its class makes inside (a runtime that calls the driver) is
// not recorded again: the outermost one counts. Contexts and code are classes of their own, since
// the first allocation of a runtime makes them inside.
#pragma once

#include <concepts>
#include <cstdint>

#include "interpose/door/cupti/witness.h"
#include "interpose/door/sampler/device_use.h"
#include "interpose/ground/base/errno_keeper.h"
#include "interpose/ground/driver/call_arguments.h"
#include "interpose/ground/loader/hook_table.h"
#include "interpose/ground/session/session.h"
#include "memtrace/cuda_calls.h"

namespace memtrace {

struct call_facts {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t handle = 0;
  call_arguments::call_place place = call_arguments::here;
};

// Which call it is, and where it came from.
struct recorded_call {
  hook_id id;
  format::cuda_effect effect;
  const void* caller;  // the return address
};

enum class call_class : unsigned { memory, context, code, count };

[[nodiscard]] constexpr call_class class_of(format::cuda_effect effect) noexcept {
  using format::cuda_effect;
  switch (effect) {
    case cuda_effect::context:
    case cuda_effect::context_end:
    case cuda_effect::device_end:
    case cuda_effect::limit:
      return call_class::context;
    case cuda_effect::module:
    case cuda_effect::module_end:
      return call_class::code;
    default:
      return call_class::memory;
  }
}

// Marks a call of this thread as under way.
template <call_class of_class>
class [[nodiscard]] call_nesting {
 public:
  call_nesting() noexcept { ++depth_; }
  ~call_nesting() { --depth_; }
  call_nesting(const call_nesting&) = delete;
  call_nesting& operator=(const call_nesting&) = delete;
  [[nodiscard]] bool is_outermost() const noexcept { return depth_ == 1; }

 private:
  static inline thread_local constinit int depth_ = 0;
};

// The wrappers' answer when there is nothing behind them: cudaErrorSharedObjectSymbolNotFound
// and CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, which are the same number.
inline constexpr int error_no_real_function = 302;

void before_allocation() noexcept;
// Bytes of the device in use before a context is made there; 0: not known.
[[nodiscard]] std::uint64_t before_context(const call_facts& wanted) noexcept;
void record_allocation(const recorded_call& call, call_facts facts, int error,
                       std::uint64_t used_before) noexcept;
void record_note(const recorded_call& call, const call_facts& facts, int error) noexcept;
void record_node(hook_id adds, hook_id frees, const void* caller, const void* node,
                 std::uint64_t graph) noexcept;

// Before and after the real call.
class release_in_progress {
 public:
  explicit release_in_progress(const recorded_call& call) noexcept : call_(call) {}
  void begin(const call_facts& facts) noexcept;
  void end(int error) noexcept;

 private:
  [[nodiscard]] bool says_something() const noexcept {
    return facts_.address != 0 || facts_.handle != 0 ||
           call_.effect == format::cuda_effect::device_end;
  }

  recorded_call call_;
  call_facts facts_;
  std::uint32_t device_ = 0;
  const char* api_ = nullptr;
};

// CUDA pointers, device pointers and handles are all numbers in the trace.
[[nodiscard]] inline std::uint64_t as_number(const void* value) noexcept {
  return reinterpret_cast<std::uintptr_t>(value);
}
[[nodiscard]] constexpr std::uint64_t as_number(std::unsigned_integral auto value) noexcept {
  return value;
}
// The literal 0 of a row without the field.
[[nodiscard]] constexpr std::uint64_t as_number(int) noexcept {
  return 0;
}

template <format::cuda_effect effect, typename Call, typename Facts>
int allocate_recorded(hook_id id, const void* caller, Call call, Facts facts) {
  const call_nesting<class_of(effect)> nesting;
  if (!nesting.is_outermost() || session::is_impossible()) return call();
  const device_use::call_under_way mark;
  std::uint64_t used_before = 0;
  {
    const errno_keeper errno_stays;
    // Not where the runtime makes a context: it holds locks of its own there.
    if constexpr (class_of(effect) == call_class::memory) cupti::begin_if_wanted();
    if constexpr (class_of(effect) == call_class::memory) before_allocation();
    if constexpr (effect == format::cuda_effect::context) used_before = before_context(facts(-1));
  }
  const int error = call();
  const errno_keeper errno_stays;
  record_allocation({id, effect, caller}, facts(error), error, used_before);
  return error;
}

template <format::cuda_effect effect, typename Call, typename Facts>
int release_recorded(hook_id id, const void* caller, Call call, Facts facts) {
  const call_nesting<class_of(effect)> nesting;
  if (!nesting.is_outermost() || session::active() == nullptr) return call();
  const device_use::call_under_way mark;
  release_in_progress release({id, effect, caller});
  {
    const errno_keeper errno_stays;
    release.begin(facts());
  }
  const int error = call();
  const errno_keeper errno_stays;
  release.end(error);
  return error;
}

template <format::cuda_effect effect, typename Call, typename Facts>
int note_recorded(hook_id id, const void* caller, Call call, Facts facts) {
  const call_nesting<class_of(effect)> nesting;
  if (!nesting.is_outermost() || session::active() == nullptr) return call();
  const device_use::call_under_way mark;
  const int error = call();
  const errno_keeper errno_stays;
  record_note({id, effect, caller}, facts(error), error);
  return error;
}

template <typename Call, typename Node>
int add_node_recorded(hook_id adds, hook_id frees, const void* caller, std::uint64_t graph,
                      Call call, Node node) {
  const call_nesting<call_class::memory> nesting;
  if (!nesting.is_outermost() || session::is_impossible()) return call();
  const device_use::call_under_way mark;
  const int error = call();
  if (error != 0) return error;
  const errno_keeper errno_stays;
  record_node(adds, frees, caller, node(), graph);
  return error;
}

}  // namespace memtrace
