// SPDX-License-Identifier: Apache-2.0
#include "interpose/entry/native_allocator.h"

#include <array>

#include "interpose/base/notice.h"
#include "interpose/loader/elf_symbols.h"

namespace memtrace {
namespace {

#define NATIVE "3c104cuda20CUDACachingAllocator6Native22NativeCachingAllocator"

// In the order of allocator_member. Parameter lists differ between versions: prefixes.
constexpr std::array<symbol_query, static_cast<unsigned>(allocator_member::count)> symbols{{
    {.prefix = "_ZTVN" NATIVE "E", .whole = true},
    {.prefix = "_ZN" NATIVE "27attachAllocatorTraceTracker"},
    {.prefix = "_ZN" NATIVE "11initializedEv", .whole = true},
    {.prefix = "_ZN" NATIVE "17getMemoryFractionE"},
    {.prefix = "_ZN" NATIVE "17setMemoryFractionE"},
    {.prefix = "_ZN" NATIVE "10emptyCacheE"},
    {.prefix = "_ZN" NATIVE "19beginAllocateToPoolE"},
    {.prefix = "_ZN" NATIVE "17endAllocateToPoolE"},
    {.prefix = "_ZN" NATIVE "11releasePoolE"},
    {.prefix = "_ZN" NATIVE "18createOrIncrefPoolE"},
    {.prefix = "_ZN" NATIVE "10setNoSplitE"},
    {.prefix = "_ZN" NATIVE "11setUseOnOOME"},
}};
#undef NATIVE

constexpr char allocator_pointer[] = "_ZN3c104cuda20CUDACachingAllocator9allocatorE";
constexpr unsigned words_before_functions = 2;  // Itanium C++ ABI: offset to top, type information
constexpr unsigned most_vtable_words = 250;

}  // namespace

bool native_allocator::find() noexcept {
  loaded_library library;
  library_is_loaded_ = find_loaded_library("libc10_cuda.so", library);
  if (!library_is_loaded_) return false;
  auto* const pointer =
      static_cast<void**>(find_in_loaded_library("libc10_cuda.so", allocator_pointer));
  if (pointer == nullptr || *pointer == nullptr) return false;

  auto found = symbols;
  find_local_symbols(library, found);
  const auto& vtable = found[static_cast<unsigned>(allocator_member::vtable)];
  if (vtable.address == 0) {
    notice::log("no symbols of NativeCachingAllocator in %s", library.path.c_str());
    return false;
  }
  const auto* const functions =
      reinterpret_cast<void* const*>(vtable.address) + words_before_functions;
  if (*static_cast<void* const* const*>(*pointer) != functions) {
    notice::log("the current allocator is not the native one");
    return false;
  }
  object_ = *pointer;
  vtable_words_ = reinterpret_cast<void* const*>(vtable.address);
  vtable_word_count_ = static_cast<unsigned>(vtable.size / sizeof(void*));
  if (vtable_word_count_ > most_vtable_words) return false;
  for (unsigned i = 0; i < found.size(); ++i) members_[i] = found[i].address;
  empty_cache_takes_pool_ = found[static_cast<unsigned>(allocator_member::empty_cache)].next == 'S';
  return true;
}

void* native_allocator::member(allocator_member which) const noexcept {
  const std::uintptr_t wanted = members_[static_cast<unsigned>(which)];
  if (wanted == 0) return nullptr;
  for (unsigned i = words_before_functions; i < vtable_word_count_; ++i) {
    if (reinterpret_cast<std::uintptr_t>(vtable_words_[i]) == wanted) return vtable_words_[i];
  }
  return nullptr;
}

bool native_allocator::is_initialized() const noexcept {
  const auto initialized = reinterpret_cast<bool (*)(void*)>(member(allocator_member::initialized));
  return initialized == nullptr || initialized(object_);
}

}  // namespace memtrace
