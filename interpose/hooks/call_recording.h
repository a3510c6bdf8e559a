// SPDX-License-Identifier: Apache-2.0
//
// What every wrapper of an allocating or releasing CUDA call does around the real one. No lock is
// held across the real call, and its result goes back untouched.
//
//   allocation   real call ─► record                   (failures too, if a recording runs)
//   release      record ─► real call ─► cuda_undo if it failed: the address may be reused at once
//
// A call that another recorded call makes inside (a runtime that calls the driver) is not
// recorded again: the outermost one counts.
#pragma once

#include <concepts>
#include <cstdint>

#include "interpose/hooks/hook_table.h"

namespace memtrace {

struct call_facts {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t handle = 0;
};

// Marks a call of this thread as under way.
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

// What the wrappers answer when there is nothing behind them: cudaErrorSharedObjectSymbolNotFound
// and CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, which are the same number.
inline constexpr int error_no_real_function = 302;

void before_allocation() noexcept;
void record_allocation(hook_id id, const call_facts& facts, int error) noexcept;
void record_release(hook_id id, const call_facts& facts) noexcept;
void record_failed_release(hook_id id, const call_facts& facts, int error) noexcept;

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

template <typename Call, typename Facts>
int allocate_recorded(hook_id id, Call call, Facts facts) {
  const call_nesting nesting;
  if (!nesting.is_outermost()) return call();
  before_allocation();
  const int error = call();
  record_allocation(id, facts(error), error);
  return error;
}

template <typename Call>
int release_recorded(hook_id id, Call call, const call_facts& facts) {
  const call_nesting nesting;
  if (!nesting.is_outermost() || (facts.address == 0 && facts.handle == 0)) return call();
  record_release(id, facts);
  const int error = call();
  if (error != 0) record_failed_release(id, facts, error);
  return error;
}

}  // namespace memtrace
