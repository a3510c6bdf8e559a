// SPDX-License-Identifier: Apache-2.0
#include "interpose/autograd/optimizer_depth.h"

namespace memtrace::autograd {
namespace {

thread_local constinit unsigned depth = 0;

}  // namespace

void enter_optimizer() noexcept {
  ++depth;
}

void leave_optimizer() noexcept {
  if (depth > 0) --depth;
}

bool is_in_optimizer() noexcept {
  return depth > 0;
}

}  // namespace memtrace::autograd
