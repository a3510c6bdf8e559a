// SPDX-License-Identifier: Apache-2.0
//
// Which device each recorded allocation, pool, array, … is on. A release does not say it, and the
// current device may be another. Kept only in processes that see several devices. And the sizes of
// what PyTorch took from CUDA's own pool, which their releases do not say either.
//
// Threads: any; nothing is held across a CUDA call.
#pragma once

#include <cstdint>
#include <optional>

namespace memtrace::known_memory {

// As the driver says, once it is initialised; 0 before.
[[nodiscard]] int device_count() noexcept;
[[nodiscard]] inline bool several_devices() noexcept {
  return device_count() > 1;
}

void remember_address(std::uint64_t address, std::uint32_t device) noexcept;
void remember_handle(std::uint64_t handle, std::uint32_t device) noexcept;
void forget_address(std::uint64_t address) noexcept;

[[nodiscard]] std::optional<std::uint32_t> device_of_address(std::uint64_t address) noexcept;
[[nodiscard]] std::optional<std::uint32_t> device_of_handle(std::uint64_t handle) noexcept;

void remember_size(std::uint64_t address, std::uint64_t bytes) noexcept;
// The bytes that were remembered, which are forgotten; 0: none were.
[[nodiscard]] std::uint64_t forget_size(std::uint64_t address) noexcept;

// The device's own context, once it was retained; 0: not known.
void remember_primary_context(int device, std::uint64_t context) noexcept;
[[nodiscard]] std::uint64_t primary_context(int device) noexcept;

// A thread of the parent may have been in the middle of it.
void in_forked_child() noexcept;

}  // namespace memtrace::known_memory

// The contexts that the program made beside the devices' own: what is allocated in one ends with
// it. Most programs make none, and are not asked which is current.
namespace memtrace::made_contexts {

void add(std::uint64_t context) noexcept;
void remove(std::uint64_t context) noexcept;

// The calling thread's context if it is one of them, else 0.
[[nodiscard]] std::uint64_t current() noexcept;

}  // namespace memtrace::made_contexts
