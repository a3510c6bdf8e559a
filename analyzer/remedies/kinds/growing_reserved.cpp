// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedies/kinds.h"

namespace memtrace::remedies {

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

}  // namespace memtrace::remedies
