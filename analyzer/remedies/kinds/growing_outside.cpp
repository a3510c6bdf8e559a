// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedies/kinds.h"

namespace memtrace::remedies {

std::optional<verdicts::remedy> growing_outside(const clues& of) {
  if (of.about.about.kind != verdicts::subject_kind::outside) return std::nullopt;
  verdicts::remedy what;
  what.id = "growing_outside";
  what.cause =
      "Memory of the device grows outside of PyTorch's allocator: CUDA modules that are loaded or "
      "compiled, contexts, graphs, libraries' own buffers, or another process.";
  what.change =
      "Look for what is compiled, loaded, captured or created again in every step (kernels for "
      "each new shape, CUDA graphs, communicators, handles), and make it once.";
  what.caution = "Nothing that PyTorch frees, and no empty_cache(), touches this memory.";
  return what;
}

}  // namespace memtrace::remedies
