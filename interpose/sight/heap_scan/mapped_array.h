// SPDX-License-Identifier: Apache-2.0
//
// An array that grows in place up to a fixed number of items: address space is taken at once,
// memory as it is used. Apart from the program's heap, which a heap scan leaves as it was.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace memtrace::heap_scan {

template <typename T>
class mapped_array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit mapped_array(std::size_t capacity) noexcept : capacity_(capacity) {
    void* const memory = mmap(nullptr, capacity * sizeof(T), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) capacity_ = 0;
    items_ = capacity_ == 0 ? nullptr : static_cast<T*>(memory);
  }
  ~mapped_array() {
    if (items_ != nullptr) munmap(items_, capacity_ * sizeof(T));
  }
  mapped_array(mapped_array&& other) noexcept : mapped_array() { swap(other); }
  mapped_array(const mapped_array&) = delete;
  mapped_array& operator=(const mapped_array&) = delete;

  // Without room.
  mapped_array() noexcept : capacity_(0) {}

  void swap(mapped_array& other) noexcept {
    std::swap(items_, other.items_);
    std::swap(capacity_, other.capacity_);
    std::swap(size_, other.size_);
  }

  // False when it is full, or was never there.
  [[nodiscard]] bool push(const T& item) noexcept {
    if (size_ == capacity_) return false;
    items_[size_++] = item;
    return true;
  }
  // Items that were never written are all zeros.
  [[nodiscard]] T& operator[](std::size_t index) noexcept { return items_[index]; }
  [[nodiscard]] const T& operator[](std::size_t index) const noexcept { return items_[index]; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

 private:
  T* items_ = nullptr;
  std::size_t capacity_;
  std::size_t size_ = 0;
};

}  // namespace memtrace::heap_scan
