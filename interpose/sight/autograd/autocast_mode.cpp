// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/autograd/autocast_mode.h"

#include "interpose/ground/base/exported.h"
#include "interpose/sight/autograd/real_behind.h"
#include "interpose/sight/autograd/torch_symbols.h"

namespace memtrace::autograd {
namespace {

constexpr signed char cuda_type = 1;  // c10::DeviceType

}  // namespace

thread_local constinit bool detail::autocast_is_on = false;

}  // namespace memtrace::autograd

MEMTRACE_EXPORTED void AUTOGRAD_SET_AUTOCAST(signed char device_type, bool on) {
  namespace autograd = memtrace::autograd;
  auto* const real = autograd::real_behind<decltype(AUTOGRAD_SET_AUTOCAST)>(
      memtrace::hook_id::AUTOGRAD_SET_AUTOCAST, __builtin_return_address(0));
  real(device_type, on);
  if (device_type == autograd::cuda_type) autograd::detail::autocast_is_on = on;
}
