// SPDX-License-Identifier: Apache-2.0
#include "interpose/hooks/allocator_settings.h"

#include <algorithm>
#include <cstring>

#include "interpose/hooks/errno_keeper.h"
#include "interpose/hooks/exported.h"
#include "interpose/hooks/hook_table.h"
#include "interpose/hooks/session.h"
#include "interpose/recorder/small_lock.h"

namespace memtrace::allocator_settings {
namespace {

small_lock lock;
char latest[4096];
std::size_t latest_size = 0;

void record(recorder& to, std::string_view text) noexcept {
  to.operation({.what = format::operation::settings, .text = text});
}

// A std::string of the current ABI (pointer, length, …) or of the one before GCC 5 (a pointer,
// with the length three words in front of the characters).
std::string_view text_of(const void* string) noexcept {
  const auto* const words = static_cast<const std::uintptr_t*>(string);
  return {reinterpret_cast<const char*>(words[0]), words[1]};
}
std::string_view text_of_old_string(const void* string) noexcept {
  const char* const characters = *static_cast<const char* const*>(string);
  std::size_t length = 0;
  std::memcpy(&length, characters - 3 * sizeof(std::size_t), sizeof length);
  return {characters, length};
}

}  // namespace

void changed(std::string_view text) noexcept {
  const errno_keeper errno_stays;
  if (recorder* const to = session::active(); to != nullptr) {
    record(*to, text);
    return;
  }
  const lock_holder holder(lock);
  latest_size = std::min(text.size(), sizeof latest);
  std::memcpy(latest, text.data(), latest_size);
}

void record_earlier(recorder& to) noexcept {
  char text[sizeof latest];
  std::size_t size = 0;
  {
    const lock_holder holder(lock);
    size = latest_size;
    std::memcpy(text, latest, size);
  }
  if (size > 0) record(to, {text, size});
}

}  // namespace memtrace::allocator_settings

using memtrace::hook_id;

// Each throws what the real one throws (an unknown option), and records only what was accepted.
MEMTRACE_EXPORTED void
_ZN3c1016CachingAllocator26AcceleratorAllocatorConfig9parseArgsERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(
    void* self, const void* text) {
  auto* const real = memtrace::real_function<void(void*, const void*)>(
      hook_id::
          _ZN3c1016CachingAllocator26AcceleratorAllocatorConfig9parseArgsERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE);
  if (real == nullptr) return;
  real(self, text);
  memtrace::allocator_settings::changed(memtrace::allocator_settings::text_of(text));
}

MEMTRACE_EXPORTED void
_ZN3c104cuda20CUDACachingAllocator20setAllocatorSettingsERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(
    const void* text) {
  auto* const real = memtrace::real_function<void(const void*)>(
      hook_id::
          _ZN3c104cuda20CUDACachingAllocator20setAllocatorSettingsERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE);
  if (real == nullptr) return;
  real(text);
  memtrace::allocator_settings::changed(memtrace::allocator_settings::text_of(text));
}

MEMTRACE_EXPORTED void _ZN3c104cuda20CUDACachingAllocator20setAllocatorSettingsERKSs(
    const void* text) {
  auto* const real = memtrace::real_function<void(const void*)>(
      hook_id::_ZN3c104cuda20CUDACachingAllocator20setAllocatorSettingsERKSs);
  if (real == nullptr) return;
  real(text);
  memtrace::allocator_settings::changed(memtrace::allocator_settings::text_of_old_string(text));
}
