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
    what.cause =
        "DataLoader workers grow: probably they read Python objects of the dataset, and each read "
        "writes a reference count, which makes a private copy of the page.";
    what.change =
        "Keep the dataset's items in one numpy array, tensor or Arrow table instead of a list or "
        "dict of Python objects; or use fewer workers.";
    what.caution =
        "That growth ends when every page has been copied once in each worker; "
        "persistent_workers does not change it. Growth that goes on is a list in the dataset that "
        "is appended to.";
  } else if (names(of, "pinned")) {
    what.id = "growing_pinned";
    what.cause =
        "Pinned memory grows: PyTorch rounds each pinned buffer up to a power of two and keeps it "
        "for later, so sizes that vary pin more and more.";
    what.change =
        "Pin buffers of one size and use them again (pad batches to it), or turn pin_memory off "
        "for tensors whose size varies.";
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
