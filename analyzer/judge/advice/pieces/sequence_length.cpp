// SPDX-License-Identifier: Apache-2.0
//
// Sequences of half the length: what grows with them shrinks to half, attention scores to a
// quarter.
#include <fmt/core.h>

#include "analyzer/judge/advice/batch_share.h"
#include "analyzer/judge/advice/pieces.h"
#include "analyzer/judge/advice/program_words.h"
#include "analyzer/judge/blocks/passes.h"

namespace memtrace::advice {

using allocator::block_number;

namespace {

constexpr std::uint32_t parts = 2;

void shorten(const blocks::evidence& of, request_edits& edits) {
  const auto passes = passes_of(of);
  const auto squares = grows_quadratically(of);
  for (const auto which : {blocks::activity::training, blocks::activity::evaluation}) {
    const auto scales = scales_with_batch(of, passes, which);
    for (block_number block = 0; block < scales.size(); ++block) {
      if (scales[block]) edits.scale(block, 1, squares[block] ? parts * parts : parts);
    }
  }
}

}  // namespace

proposals sequence_length(const blocks::evidence& of) {
  const auto passes = passes_of(of);
  if (!works_on_sequences(of)) return {};
  const auto squares = grows_quadratically(of);
  const auto training = scales_with_batch(of, passes, blocks::activity::training);
  const auto evaluation = scales_with_batch(of, passes, blocks::activity::evaluation);
  std::uint64_t linear = 0;
  std::uint64_t square = 0;
  for (const auto block : alive_after(of, of.now.allocated.request)) {
    if (!training[block] && !evaluation[block]) continue;
    (squares[block] ? square : linear) += bytes_of(of, block);
  }
  if (linear + square == 0) return {};
  proposal made;
  made.changes_results = true;
  made.id = "sequence_length";
  made.amount = fmt::format("1/{}", parts);
  made.title = "What a pass computes at once grows with the length of its sequences";
  made.change =
      "half the maximum length (max_length of the tokenizer with truncation, or the "
      "block size of the data set)";
  made.evidence = fmt::format("at the peak {} grow with the length", bytes_in_words(linear));
  if (square != 0) {
    made.evidence +=
        fmt::format(", and {} of attention scores with its square", bytes_in_words(square));
  }
  made.source =
      "activations of a transformer: s·b·h·(34 + 5·a·s/h) bytes a layer (arXiv "
      "2205.05198, equation 2)";
  made.cost = "what lies beyond the new length is not seen: accuracy where it matters";
  made.not_when = "sequences are shorter than half of the maximum anyway, or are no sequences";
  made.device = of.log.device;
  made.rewrite = [&of](allocator::request_log& log) {
    request_edits edits;
    shorten(of, edits);
    edits.apply(log);
  };
  return {made};
}

}  // namespace memtrace::advice
