// SPDX-License-Identifier: Apache-2.0
//
// Shared by all functions here that stand before PyTorch's: they are in every program on the
// simulated GPU, so that a program has the same addresses whether they do something or not, and
// only pass on what they are given where MEMTRACE_SIM_FAST_INIT is not 1.
#pragma once

#include <atomic>
#include <cstdint>

// Under the mangled name of PyTorch's.
#define MEMTRACE_EXPORTED extern "C" __attribute__((visibility("default")))

namespace memtrace::simulator::untouched {

// As the environment was when the library was loaded.
extern const bool is_on;

// A function of libtorch_cpu.so by its mangled name, past those of this library; nullptr where
// there is none. Its library is not in the loader's global scope.
[[nodiscard]] void* find_torch_function(const char* symbol) noexcept;

// Whether an address is code of libtorch_cpu.so.
[[nodiscard]] bool is_in_torch(const void* code) noexcept;

// Looked up once, by a function that PyTorch has called: `Function` is its type as the ABI has it
// (what C++ passes or returns by a hidden place is a pointer).
template <typename Function>
class torch_function {
 public:
  explicit constexpr torch_function(const char* symbol) : symbol_(symbol) {}

  [[nodiscard]] Function* get() noexcept {
    if (!is_known_.load(std::memory_order_acquire)) {
      found_.store(find_torch_function(symbol_), std::memory_order_relaxed);
      is_known_.store(true, std::memory_order_release);
    }
    return reinterpret_cast<Function*>(found_.load(std::memory_order_relaxed));
  }

 private:
  const char* symbol_;
  std::atomic<void*> found_{nullptr};
  std::atomic<bool> is_known_{false};  // that there is none, too
};

}  // namespace memtrace::simulator::untouched
