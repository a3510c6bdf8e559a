// SPDX-License-Identifier: Apache-2.0
//
// Hooks where autograd keeps tensors, and where autocast makes others of them. A Tensor is one
// pointer, to its TensorImpl.
#include "interpose/ground/base/errno_keeper.h"
#include "interpose/ground/base/exported.h"
#include "interpose/ground/session/session.h"
#include "interpose/sight/autograd/cast_mark.h"
#include "interpose/sight/autograd/is_allowed.h"
#include "interpose/sight/autograd/real_behind.h"
#include "interpose/sight/autograd/scope.h"
#include "interpose/sight/autograd/tensor_layout.h"
#include "interpose/sight/autograd/tensor_records.h"
#include "interpose/sight/autograd/torch_symbols.h"

namespace {

namespace autograd = memtrace::autograd;
namespace format = memtrace::format;
namespace session = memtrace::session;
using memtrace::hook_id;

const void* impl_behind(const void* tensor) noexcept {
  return *static_cast<const void* const*>(tensor);
}

// A SavedVariable begins with the tensor that it keeps: the undefined one where saved_tensors_hooks
// took it. That word is compared only: another PyTorch may have something else there.
void after_save(const void* saved, const void* tensor, bool is_output) noexcept {
  if (!autograd::is_confirmed()) return;
  const memtrace::errno_keeper errno_stays;
  memtrace::recorder* const to = session::active();
  if (to == nullptr) return;
  const bool is_packed = autograd::is_the_undefined(impl_behind(saved));
  autograd::record_saved(
      *to, impl_behind(tensor),
      (is_output ? format::saved_output : 0) | (is_packed ? format::saved_packed : 0));
}

void after_cast(const void* source, const void* copy) noexcept {
  const memtrace::errno_keeper errno_stays;
  if (memtrace::recorder* const to = session::active(); to != nullptr) {
    autograd::record_cast(*to, impl_behind(source), impl_behind(copy));
  }
}

}  // namespace

MEMTRACE_EXPORTED void AUTOGRAD_SAVED(void* saved, const void* tensor, bool is_output,
                                      bool is_inplace_on_view) {
  auto* const real = autograd::real_behind<decltype(AUTOGRAD_SAVED)>(hook_id::AUTOGRAD_SAVED,
                                                                     __builtin_return_address(0));
  real(saved, tensor, is_output, is_inplace_on_view);
  if (autograd::is_allowed()) after_save(saved, tensor, is_output);
}

// The result is a Tensor, whose place comes first.
MEMTRACE_EXPORTED void* AUTOGRAD_CAST(void* result, signed char scalar_type, const void* source,
                                      signed char device_type) {
  auto* const real = autograd::real_behind<decltype(AUTOGRAD_CAST)>(hook_id::AUTOGRAD_CAST,
                                                                    __builtin_return_address(0));
  if (!autograd::is_allowed()) return real(result, scalar_type, source, device_type);
  const autograd::cast_mark mark(autograd::is_grad_on());
  void* const returned = real(result, scalar_type, source, device_type);
  if (mark.has_allocated()) after_cast(source, result);
  return returned;
}
