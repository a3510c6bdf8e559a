// SPDX-License-Identifier: Apache-2.0
//
// Preloaded before memtrace: takes calls of autograd's engine away from its hooks, as a PyTorch
// would that is bound to its own symbols. WITHOUT_EXECUTE, WITHOUT_EVALUATE: of which function.
#include <dlfcn.h>

#include "interpose/sight/autograd/torch_symbols.h"

namespace {

void* real(const char* name) {
  void* const torch = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
  return torch == nullptr ? nullptr : dlsym(torch, name);
}

}  // namespace

#define TEXT(name) TEXT_OF(name)
#define TEXT_OF(name) #name

extern "C" {

#ifdef WITHOUT_EXECUTE
void* AUTOGRAD_EXECUTE(void* result, void* engine, const void* roots, const void* inputs, bool keep,
                       bool create, bool accumulate, const void* outputs) {
  static auto* const found =
      reinterpret_cast<decltype(&AUTOGRAD_EXECUTE)>(real(TEXT(AUTOGRAD_EXECUTE)));
  return found(result, engine, roots, inputs, keep, create, accumulate, outputs);
}
#endif

#ifdef WITHOUT_EVALUATE
void AUTOGRAD_EVALUATE(void* engine, void* task, void* node, void* inputs, const void* queue) {
  static auto* const found =
      reinterpret_cast<decltype(&AUTOGRAD_EVALUATE)>(real(TEXT(AUTOGRAD_EVALUATE)));
  found(engine, task, node, inputs, queue);
}
#endif

}  // extern "C"
