// SPDX-License-Identifier: Apache-2.0
//
// PyTorch's NativeCachingAllocator as an object in memory: where it is, where its member functions
// are, and whether all that fits together.
#pragma once

#include <cstdint>

namespace memtrace {

enum class allocator_member : unsigned {
  vtable,
  attach_tracker,
  initialized,
  get_memory_fraction,
  set_memory_fraction,
  empty_cache,
  begin_allocate_to_pool,
  end_allocate_to_pool,
  release_pool,
  create_pool,
  set_no_split,
  set_use_on_oom,
  count
};

class native_allocator {
 public:
  // True if libc10_cuda is loaded and its current allocator is the native one.
  [[nodiscard]] bool find() noexcept;
  // libc10_cuda is loaded: when find() failed, it will not succeed later.
  [[nodiscard]] bool library_is_loaded() const noexcept { return library_is_loaded_; }

  [[nodiscard]] void* object() const noexcept { return object_; }

  // A member function that stands in the object's own vtable, else null.
  [[nodiscard]] void* member(allocator_member which) const noexcept;

  // Whether init() has run: before, a tracker would be attached to no device.
  [[nodiscard]] bool is_initialized() const noexcept;

  // The vtable with the two words in front of it (offset to top, type information).
  [[nodiscard]] void* const* vtable_words() const noexcept { return vtable_words_; }
  [[nodiscard]] unsigned vtable_word_count() const noexcept { return vtable_word_count_; }

  // In 2.4 emptyCache() takes no pool.
  [[nodiscard]] bool empty_cache_takes_pool() const noexcept { return empty_cache_takes_pool_; }

 private:
  bool library_is_loaded_ = false;
  void* object_ = nullptr;
  void* const* vtable_words_ = nullptr;
  unsigned vtable_word_count_ = 0;
  bool empty_cache_takes_pool_ = false;
  std::uintptr_t members_[static_cast<unsigned>(allocator_member::count)] = {};
};

}  // namespace memtrace
