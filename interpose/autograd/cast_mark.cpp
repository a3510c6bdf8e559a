// SPDX-License-Identifier: Apache-2.0
#include "interpose/autograd/cast_mark.h"

namespace memtrace::autograd {
namespace {

thread_local constinit cast_mark* innermost = nullptr;

}  // namespace

cast_mark::cast_mark() noexcept : outer_(innermost) {
  innermost = this;
}

cast_mark::~cast_mark() {
  innermost = outer_;
}

bool cast_mark::is_active() noexcept {
  return innermost != nullptr;
}

void cast_mark::allocated() noexcept {
  if (innermost != nullptr) innermost->has_allocated_ = true;
}

}  // namespace memtrace::autograd
