// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/autograd/scope.h"

#include "interpose/ground/base/exported.h"
#include "interpose/ground/base/settings.h"
#include "interpose/sight/autograd/cast_mark.h"
#include "interpose/sight/autograd/real_behind.h"
#include "interpose/sight/autograd/running_node.h"
#include "interpose/sight/autograd/thread_memory.h"
#include "interpose/sight/autograd/torch_functions.h"
#include "interpose/sight/autograd/torch_symbols.h"

namespace memtrace::autograd {
namespace {

constexpr signed char cuda_type = 1;  // c10::DeviceType

// Whether autocast is on for CUDA in the calling thread, as the program switched it. PyTorch's own
// answer is no inside of the operations that autocast wraps, where softmax and the like allocate
// and save: it takes autocast's dispatch key away for the time of the call.
thread_local constinit bool autocast_is_on __attribute__((tls_model("initial-exec"))) = false;

std::uint32_t flag_if(bool holds, std::uint32_t flag) noexcept {
  return holds ? flag : 0;
}

// The scope of the thread's last allocation. A free is not asked: it costs three calls of
// PyTorch, nobody reads it, and every change is a record.
thread_local constinit std::uint32_t last_modes __attribute__((tls_model("initial-exec"))) =
    format::scope_grad;

// A PyTorch that cannot be asked counts as one where gradients are recorded.
std::uint32_t mode_flags() noexcept {
  const torch_functions* const torch = find_torch_functions();
  if (torch == nullptr) return format::scope_grad;
  const bool records = cast_mark::is_active() ? cast_mark::program_records() : is_grad_on();
  return flag_if(records, format::scope_grad) |
         flag_if(torch->inference_mode != nullptr && torch->inference_mode(),
                 format::scope_inference) |
         flag_if(is_autocast_on(), format::scope_autocast);
}

std::uint32_t object_id(recorder& to, std::uint64_t address) noexcept {
  if (address == 0) return 0;
  thread_memory* const memory = this_threads_memory();
  if (memory == nullptr) return to.object_id(address);
  std::uint32_t id = memory->objects.find(address, to.generation());
  if (id != 0) return id;
  id = to.object_id(address);
  memory->objects.keep(address, to.generation(), id);
  return id;
}

void set_modules(recorder& to, event_scope& scope, std::uint64_t module,
                 std::uint64_t root) noexcept {
  scope.module = object_id(to, module);
  scope.root = module == root ? scope.module : object_id(to, root);
}

[[gnu::noinline]] void add_backward(recorder& to, event_scope& scope,
                                    const python_stack::captured& here) noexcept {
  scope.flags |= format::scope_backward;
  const bool runs_module = here.module != 0 && is_engines_thread();
  scope.flags |= flag_if(runs_module, format::scope_recompute);
  running_node* const running = running_node::current();
  if (running == nullptr) return;
  const forward_place& forward = running->place(to);
  scope.forward_stack = forward.stack;
  scope.node = running->name(to);
  if (!runs_module && forward.module != 0) set_modules(to, scope, forward.module, forward.root);
}

}  // namespace

bool is_autocast_on() noexcept {
  if (autocast_is_on) return true;
  const torch_functions* const torch = find_torch_functions();
  return torch != nullptr && torch->autocast != nullptr && torch->autocast(cuda_type);
}

bool is_grad_on() noexcept {
  const torch_functions* const torch = find_torch_functions();
  return torch == nullptr || torch->grad_mode == nullptr || torch->grad_mode();
}

void set_scope(event_scope& scope, recorder& to, const python_stack::captured& here,
               bool is_free) noexcept {
  // A recording with some scopes is taken to have all of them.
  if (!settings::is_on(capability::autograd)) {
    scope = {};
    return;
  }
  if (!is_free) last_modes = mode_flags();
  scope.flags = last_modes | flag_if(is_in_optimizer(), format::scope_optimizer) |
                flag_if(cast_mark::is_active(), format::scope_cast);
  scope.forward_stack = 0;
  scope.node = 0;
  set_modules(to, scope, here.module, here.root);
  if (is_in_backward()) add_backward(to, scope, here);
}

}  // namespace memtrace::autograd

MEMTRACE_EXPORTED void AUTOGRAD_SET_AUTOCAST(signed char device_type, bool on) {
  namespace autograd = memtrace::autograd;
  auto* const real = autograd::real_behind<decltype(AUTOGRAD_SET_AUTOCAST)>(
      memtrace::hook_id::AUTOGRAD_SET_AUTOCAST, __builtin_return_address(0));
  real(device_type, on);
  if (device_type == autograd::cuda_type) autograd::autocast_is_on = on;
}
