// SPDX-License-Identifier: Apache-2.0
//
// PyTorch's NativeCachingAllocator as an object in memory: where it is, where its member functions
// are, and whether all that fits together. A member is known by its whole mangled name, which says
// its parameters: one with others is not called, and not stood in front of.
#pragma once

#include <cstdint>

namespace memtrace {

enum class allocator_member : unsigned {
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

// The arguments of a member, where they differ from release to release.
enum class member_form : unsigned char {
  only,
  no_pool,        // emptyCache() until 2.7; later of one pool
  plain_pointer,  // createOrIncrefPool(…, CUDAAllocator*) until 2.10; later a shared_ptr
  no_condition,   // setUseOnOOM(device, pool) until 2.10; later with a bool
};

class native_allocator {
 public:
  // True if libc10_cuda is loaded and its current allocator is the native one.
  [[nodiscard]] bool find() noexcept;
  // libc10_cuda is loaded: when find() failed, it will not succeed later.
  [[nodiscard]] bool library_is_loaded() const noexcept { return library_is_loaded_; }

  [[nodiscard]] void* object() const noexcept { return object_; }

  // A member function of a known signature that stands in the object's own vtable, else null.
  [[nodiscard]] void* member(allocator_member which) const noexcept;
  [[nodiscard]] member_form form(allocator_member which) const noexcept { return at(which).form; }

  // False where there is one of that name with other parameters, or outside of the vtable, or where
  // there is none though each known release has it.
  [[nodiscard]] bool is_known(allocator_member which) const noexcept;

  // The vtable with the two words in front of it (offset to top, type information).
  [[nodiscard]] void* const* vtable_words() const noexcept { return vtable_words_; }
  [[nodiscard]] unsigned vtable_word_count() const noexcept { return vtable_word_count_; }

 private:
  struct found_member {
    std::uintptr_t address = 0;  // of a known signature
    member_form form = member_form::only;
    bool is_named = false;  // there is one of that name, whatever it takes
  };
  [[nodiscard]] const found_member& at(allocator_member which) const noexcept {
    return members_[static_cast<unsigned>(which)];
  }

  bool library_is_loaded_ = false;
  void* object_ = nullptr;
  void* const* vtable_words_ = nullptr;
  unsigned vtable_word_count_ = 0;
  found_member members_[static_cast<unsigned>(allocator_member::count)];
};

}  // namespace memtrace
