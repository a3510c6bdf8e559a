// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interpose/ground/session/refusals.h"

namespace memtrace::autograd {

// Whether the hooks may do more than hand on to PyTorch: capability::autograd.
[[nodiscard]] inline bool is_allowed() noexcept {
  return refusals::is_allowed(capability::autograd);
}

}  // namespace memtrace::autograd
