// SPDX-License-Identifier: Apache-2.0
//
// The functions that serve NVTX calls.
#pragma once

#include <span>

#include "interpose/door/api/nvtx_interface.h"

namespace memtrace::nvtx {

struct served_call {
  int module;
  unsigned index;
  function serve;
};

[[nodiscard]] std::span<const served_call> served_calls() noexcept;

}  // namespace memtrace::nvtx
