// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedies/kinds.h"

namespace memtrace::remedies {

namespace {

[[nodiscard]] bool names(const clues& of, std::string_view word) {
  return of.about.about.name.find(word) != std::string::npos;
}

}  // namespace

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
