// SPDX-License-Identifier: Apache-2.0
//
// The wrappers of the calls that say what memory is for: copies from the host, workspaces. Without
// a recording each is a load and a jump.
#include <array>
#include <atomic>
#include <cstddef>

#include "interpose/door/entry/call_recording.h"
#include "interpose/door/sampler/device_use.h"
#include "interpose/ground/base/errno_keeper.h"
#include "interpose/ground/base/exported.h"
#include "interpose/ground/loader/caller_binding.h"
#include "interpose/ground/session/session.h"

namespace memtrace {
namespace {

using format::storage_role;

struct library_facts {
  const char* name;
  int absent;  // what a wrapper answers when there is nothing behind it
};

constexpr library_facts facts_of(library_family family) noexcept {
  switch (family) {
    case library_family::cublas:
      return {"cublas", 1};  // CUBLAS_STATUS_NOT_INITIALIZED
    case library_family::cublasLt:
      return {"cublasLt", 1};
    case library_family::cudnn:
      return {"cudnn", 1001};  // CUDNN_STATUS_NOT_INITIALIZED
    case library_family::cufft:
      return {"cufft", 5};  // CUFFT_INTERNAL_ERROR
    default:
      return {"", error_no_real_function};
  }
}

// The text id of a library's name; looked up once in each recording.
template <library_family family>
std::uint32_t name_id(recorder& to) noexcept {
  static constinit std::atomic<std::uint64_t> known{0};  // generation, id
  const std::uint64_t generation = to.generation();
  const std::uint64_t last = known.load(std::memory_order_relaxed);
  if (last >> 32 == generation) [[likely]]
    return static_cast<std::uint32_t>(last);
  const std::uint32_t id = to.text_id(facts_of(family).name);
  known.store(generation << 32 | id, std::memory_order_relaxed);
  return id;
}

// A workspace is handed over at every product, and is the same block for the whole run; what a copy
// fills may have been allocated without our knowing, and is told each time.
template <library_family family, storage_role role>
void record(recorder& to, std::uint64_t address, std::uint64_t bytes) noexcept {
  const errno_keeper errno_stays;
  if constexpr (role == storage_role::workspace) {
    to.storage_once(
        {.role = role, .address = address, .bytes = bytes, .name = name_id<family>(to)});
  } else {
    const std::array<storage_event, 1> found{
        storage_event{.role = role, .address = address, .bytes = bytes}};
    to.storages(found);
  }
}

// Copies are the CUDA calls that nearly every step makes.
template <library_family family>
void before_call(recorder& to) noexcept {
  if constexpr (family == library_family::runtime) {
    const errno_keeper errno_stays;
    device_use::answer(to);
  }
}

// CUDA's runtime is one for the process; of the others there may be several.
template <typename Function, hook_id id, library_family family>
Function* real_for(const void* caller) noexcept {
  if constexpr (family == library_family::runtime) {
    return real_function<Function>(id);
  } else {
    static constinit caller_bindings known{nullptr};
    return real_function_for<Function>(id, caller, known);
  }
}

}  // namespace
}  // namespace memtrace

#define HANDS_OVER(family, name, parameters, arguments, role, address, bytes)                    \
  MEMTRACE_EXPORTED int name parameters {                                                        \
    using memtrace::hook_id;                                                                     \
    constexpr auto family_ = memtrace::library_family::family;                                   \
    if (memtrace::recorder* const to_ = memtrace::session::active(); to_ != nullptr) {           \
      memtrace::before_call<family_>(*to_);                                                      \
      if (const auto at_ = memtrace::as_number(address); at_ != 0) {                             \
        memtrace::record<family_, memtrace::storage_role::role>(*to_, at_, bytes);               \
      }                                                                                          \
    }                                                                                            \
    auto* const real_ =                                                                          \
        memtrace::real_for<decltype(name), hook_id::name, family_>(__builtin_return_address(0)); \
    return real_ == nullptr ? memtrace::facts_of(family_).absent : real_ arguments;              \
  }
#include "interpose/ground/loader/hooks.def"
