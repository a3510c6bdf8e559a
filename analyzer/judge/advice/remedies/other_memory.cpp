// SPDX-License-Identifier: Apache-2.0
//
// Growth of what is no tensor: reserved memory, the device outside of PyTorch, the host.
#include "analyzer/judge/advice/remedies/remedies.h"

namespace memtrace::remedies {

namespace {

[[nodiscard]] bool names(const clues& of, std::string_view word) {
  return of.about.about.name.find(word) != std::string::npos;
}

}  // namespace

std::optional<verdicts::remedy> growing_reserved(const clues& of) {
  if (of.about.about.kind != verdicts::subject_kind::reserved) return std::nullopt;
  verdicts::remedy what;
  what.id = "growing_reserved";
  what.cause =
      "PyTorch reserves more and more from CUDA while what is allocated does not grow: sizes that "
      "vary from step to step probably leave holes that the next sizes do not fit into.";
  const bool expandable = of.run.alloc_conf.find("expandable_segments:True") != std::string::npos;
  what.change = expandable
                    ? "Pad or bucket the lengths, so that sizes come again; expandable_segments is "
                      "on already."
                    : "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True before the program "
                      "starts, or pad and bucket the lengths, so that sizes come again.";
  what.caution =
      "torch.cuda.empty_cache() gives back only segments that are wholly free, and each of them "
      "costs a cudaMalloc when it is needed again.";
  return what;
}

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

std::optional<verdicts::remedy> growing_host(const clues& of) {
  if (of.about.about.kind != verdicts::subject_kind::host) return std::nullopt;
  verdicts::remedy what;
  what.id = "growing_host";
  if (names(of, "worker")) {
    what.id = "growing_workers";
    // Where they copy what they read, the verdict has said so itself (copy_on_read).
    what.cause =
        "DataLoader workers keep more with every batch: what is resident in them grows, which "
        "copying what they share with their parent does not explain.";
    what.change =
        "Look for what __getitem__, __iter__ or collate_fn append to or cache in the dataset, and "
        "bound or drop it.";
    what.caution =
        "Each worker has its own dataset: clearing it in the main process changes nothing. Without "
        "persistent_workers it is given back at the end of each epoch.";
  } else if (names(of, "pinned")) {
    what.id = "growing_pinned";
    what.cause =
        "Pinned memory grows: either pinned tensors are kept (in a list of batches, say), or their "
        "sizes vary, and PyTorch keeps a buffer of each, rounded up to a power of two.";
    what.change =
        "Let go of each pinned tensor when its copy is done, or pin one buffer and use it again "
        "(pad batches to its size); turn pin_memory off for tensors whose size varies.";
    what.caution = "torch.cuda.empty_cache() does not return pinned memory.";
  } else {
    what.cause = "The process's own memory grows on the host.";
    what.change =
        "Look for Python lists and dicts that keep a result of each step (logs, CPU copies of "
        "outputs, histories), and write them out or bound them.";
  }
  return what;
}

}  // namespace memtrace::remedies
