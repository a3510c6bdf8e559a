// SPDX-License-Identifier: Apache-2.0
#include "interpose/door/entry/native_allocator.h"

#include <array>
#include <string_view>

#include "interpose/ground/base/notice.h"
#include "interpose/ground/loader/elf_symbols.h"

namespace memtrace {
namespace {

#define NATIVE "3c104cuda20CUDACachingAllocator6Native22NativeCachingAllocator"
#define MEMBER(name) \
  { .prefix = "_ZN" NATIVE name "E" }

constexpr std::size_t member_count = static_cast<std::size_t>(allocator_member::count);

// In the order of allocator_member, then the vtable.
constexpr std::array<symbol_query, member_count + 1> queries{{
    MEMBER("27attachAllocatorTraceTracker"),
    MEMBER("11initialized"),
    MEMBER("17getMemoryFraction"),
    MEMBER("17setMemoryFraction"),
    MEMBER("10emptyCache"),
    MEMBER("19beginAllocateToPool"),
    MEMBER("17endAllocateToPool"),
    MEMBER("11releasePool"),
    MEMBER("18createOrIncrefPool"),
    MEMBER("10setNoSplit"),
    MEMBER("11setUseOnOOM"),
    {.prefix = "_ZTVN" NATIVE "E"},
}};
#undef MEMBER
#undef NATIVE

struct known_parameters {
  allocator_member which;
  std::string_view mangled;
  member_form form = member_form::only;
};

// As the wheels of 2.3 to 2.15 have them, and since when where it was not always so. A
// MempoolId_t is a std::pair of unsigned long long.
#define POOL "St4pairIyyE"
constexpr known_parameters known[] = {
    {allocator_member::attach_tracker, "St8functionIFvRKNS1_10TraceEntryEEE"},
    {allocator_member::attach_tracker,  // 2.11
     "St8functionIFvRKNS_22CachingDeviceAllocator10TraceEntryEEE"},
    {allocator_member::initialized, "v"},
    {allocator_member::get_memory_fraction, "a"},  // 2.6
    {allocator_member::set_memory_fraction, "da"},
    {allocator_member::empty_cache, "v", member_form::no_pool},
    {allocator_member::empty_cache, POOL},  // 2.8
    {allocator_member::begin_allocate_to_pool, "a" POOL "St8functionIFbP11CUstream_stEE"},
    {allocator_member::end_allocate_to_pool, "a" POOL},
    {allocator_member::release_pool, "a" POOL},
    {allocator_member::create_pool, "a" POOL "PNS1_13CUDAAllocatorE",  // 2.8
     member_form::plain_pointer},
    {allocator_member::create_pool, "a" POOL "St10shared_ptrINS1_13CUDAAllocatorEE"},  // 2.11
    {allocator_member::set_no_split, "a" POOL},                                        // 2.10
    {allocator_member::set_use_on_oom, "a" POOL, member_form::no_condition},           // 2.8
    {allocator_member::set_use_on_oom, "a" POOL "b"},                                  // 2.11
};
#undef POOL

const known_parameters* find_known(allocator_member which, std::string_view mangled) noexcept {
  for (const known_parameters& one : known) {
    if (one.which == which && one.mangled == mangled) return &one;
  }
  return nullptr;
}

// Those that a release may lack.
bool came_later(allocator_member which) noexcept {
  return which == allocator_member::get_memory_fraction || which == allocator_member::create_pool ||
         which == allocator_member::set_no_split || which == allocator_member::set_use_on_oom;
}

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

  auto found = queries;
  find_local_symbols(library, found);
  const auto& vtable = found[member_count];
  if (vtable.times != 1 || vtable.rest[0] != '\0') {
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
  for (unsigned i = 0; i < member_count; ++i) {
    const auto& one = found[i];
    members_[i].is_named = one.times != 0;
    // With two of one name nobody knows which is meant.
    const auto* const parameters =
        one.times == 1 ? find_known(static_cast<allocator_member>(i), one.rest) : nullptr;
    if (parameters == nullptr) continue;
    members_[i].address = one.address;
    members_[i].form = parameters->form;
  }
  return true;
}

void* native_allocator::member(allocator_member which) const noexcept {
  const std::uintptr_t wanted = at(which).address;
  if (wanted == 0) return nullptr;
  for (unsigned i = words_before_functions; i < vtable_word_count_; ++i) {
    if (reinterpret_cast<std::uintptr_t>(vtable_words_[i]) == wanted) return vtable_words_[i];
  }
  return nullptr;
}

bool native_allocator::is_known(allocator_member which) const noexcept {
  if (!at(which).is_named) return came_later(which);
  return member(which) != nullptr;
}

}  // namespace memtrace
