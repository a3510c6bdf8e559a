// SPDX-License-Identifier: Apache-2.0
//
// A device's own context, which the runtime uses.
#pragma once

#include <cstdint>

namespace memtrace::primary_context {

// Whether it lives, as the driver says; false where it does not say.
[[nodiscard]] bool is_active(std::uint32_t device) noexcept;

}  // namespace memtrace::primary_context
