// SPDX-License-Identifier: Apache-2.0
//
// What sets some of the calls on contexts and pools apart from others of the same effect.
#pragma once

#include <cstdint>

#include "interpose/loader/hook_table.h"

namespace memtrace::primary_context {

// A device's own context taken into use, not one more made.
[[nodiscard]] constexpr bool is_retain(hook_id id) noexcept {
  return id == hook_id::cuDevicePrimaryCtxRetain;
}

// A pool of this process, not one that another made known.
[[nodiscard]] constexpr bool is_own_pool(hook_id id) noexcept {
  return id == hook_id::cuMemPoolCreate || id == hook_id::cudaMemPoolCreate;
}

// Whether the device's own context lives, as the driver says; false where it does not say.
[[nodiscard]] bool is_active(std::uint32_t device) noexcept;

}  // namespace memtrace::primary_context
