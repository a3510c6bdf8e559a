// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <string_view>

#include "interpose/door/entry/allocator_calls.h"
#include "interpose/ground/base/errno_keeper.h"
#include "interpose/ground/base/exported.h"
#include "interpose/ground/base/small_lock.h"
#include "interpose/ground/loader/hook_table.h"
#include "interpose/ground/session/session.h"

namespace memtrace::allocator_settings {
namespace {

// Changes before there is a recording, in their order: a byte for whether PyTorch refused it, the
// text, and a NUL. What no longer fits is left out.
small_lock lock;
char earlier[4096];
std::size_t earlier_size = 0;

void record(recorder& to, std::string_view text, bool refused) noexcept {
  to.operation({.what = format::operation::settings, .a = refused ? 1u : 0u, .text = text});
}

// `refused`: PyTorch threw, and has applied what stands before the fault.
void changed(std::string_view text, bool refused) noexcept {
  const errno_keeper errno_stays;
  if (recorder* const to = session::active(); to != nullptr) {
    record(*to, text, refused);
    return;
  }
  text = text.substr(0, text.find('\0'));
  const lock_holder holder(lock);
  if (text.size() + 2 > sizeof earlier - earlier_size) return;
  earlier[earlier_size] = refused ? 1 : 0;
  std::memcpy(earlier + earlier_size + 1, text.data(), text.size());
  earlier[earlier_size + 1 + text.size()] = '\0';
  earlier_size += text.size() + 2;
}

// Tells of a change when it has happened: also when the real function throws, since PyTorch has
// then applied what stands before the fault.
struct told_afterwards {
  std::string_view text;
  bool refused = true;
  ~told_afterwards() { changed(text, refused); }
};

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

void record_earlier(recorder& to) noexcept {
  char told[sizeof earlier];
  std::size_t size = 0;
  {
    const lock_holder holder(lock);
    size = earlier_size;
    std::memcpy(told, earlier, size);
  }
  for (std::size_t at = 0; at < size;) {
    const std::string_view text(told + at + 1);
    record(to, text, told[at] != 0);
    at += text.size() + 2;
  }
}

}  // namespace memtrace::allocator_settings

using memtrace::hook_id;

// Each throws what the real one throws (an unknown option).
MEMTRACE_EXPORTED void
_ZN3c1016CachingAllocator26AcceleratorAllocatorConfig9parseArgsERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(
    void* self, const void* text) {
  auto* const real = memtrace::real_function<void(void*, const void*)>(
      hook_id::
          _ZN3c1016CachingAllocator26AcceleratorAllocatorConfig9parseArgsERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE);
  if (real == nullptr) return;
  memtrace::allocator_settings::told_afterwards change{memtrace::allocator_settings::text_of(text)};
  real(self, text);
  change.refused = false;
}

MEMTRACE_EXPORTED void
_ZN3c104cuda20CUDACachingAllocator20setAllocatorSettingsERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(
    const void* text) {
  auto* const real = memtrace::real_function<void(const void*)>(
      hook_id::
          _ZN3c104cuda20CUDACachingAllocator20setAllocatorSettingsERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE);
  if (real == nullptr) return;
  memtrace::allocator_settings::told_afterwards change{memtrace::allocator_settings::text_of(text)};
  real(text);
  change.refused = false;
}

MEMTRACE_EXPORTED void _ZN3c104cuda20CUDACachingAllocator20setAllocatorSettingsERKSs(
    const void* text) {
  auto* const real = memtrace::real_function<void(const void*)>(
      hook_id::_ZN3c104cuda20CUDACachingAllocator20setAllocatorSettingsERKSs);
  if (real == nullptr) return;
  memtrace::allocator_settings::told_afterwards change{
      memtrace::allocator_settings::text_of_old_string(text)};
  real(text);
  change.refused = false;
}
