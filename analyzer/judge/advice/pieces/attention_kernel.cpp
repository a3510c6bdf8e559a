// SPDX-License-Identifier: Apache-2.0
//
// Attention that writes its scores into memory: one kernel computes it part by part and has none of
// them, forward or backward.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "analyzer/judge/advice/batch_share.h"
#include "analyzer/judge/advice/pieces.h"
#include "analyzer/judge/advice/program_words.h"
#include "analyzer/judge/blocks/passes.h"

namespace memtrace::advice {

using allocator::block_number;

namespace {

// A product of queries and keys made scores, as the operation tells that keeps its operands:
// numbers, and not as many as there are scores. Sums of both (additive attention) keep nothing; what
// works on each score keeps as many, or a mask.
[[nodiscard]] bool are_of_products(const blocks::evidence& of, const std::vector<bool>& scores) {
  if (of.keepings.empty()) return true;  // not known
  std::set<std::uint64_t> sizes;  // softmax may be a module of its own, the product another's
  for (block_number block = 0; block < scores.size(); ++block) {
    if (scores[block]) sizes.insert(bytes_of(of, block));
  }
  return std::ranges::any_of(of.keepings, [&](const blocks::keeping& kept) {
    const auto by = block_from(of, kept.before);
    const auto operand = block_from(of, kept.block_event);
    if (kept.output || by >= scores.size() || operand >= scores.size()) return false;
    if (!sizes.contains(bytes_of(of, by))) return false;
    constexpr unsigned of_a_mask = 8;
    return of.blocks[operand].element_bits > of_a_mask && bytes_of(of, operand) != bytes_of(of, by);
  });
}

// A second operation keeps them as its operand, beside the product with the values: the program
// computes with the scores themselves.
[[nodiscard]] bool are_used_elsewhere(const blocks::evidence& of, const std::vector<bool>& scores) {
  std::map<block_number, std::set<std::uint64_t>> retainers;
  for (const auto& kept : of.keepings) {
    const auto block = block_from(of, kept.block_event);
    const bool is_score = block < scores.size() && scores[block] && !kept.output &&
                          birth_event(of, block) == kept.block_event;
    if (is_score) retainers[block].insert(kept.before);
  }
  return std::ranges::any_of(retainers, [](const auto& one) { return one.second.size() > 1; });
}

// Of a backward pass that records a graph; no fused kernel's backward has a derivative.
[[nodiscard]] bool differentiates_twice(const blocks::evidence& of) {
  return std::ranges::any_of(of.blocks, [](const blocks::block_facts& facts) {
    return facts.born_in == attribution::phase::backward && facts.kept_by_autograd &&
           !facts.recomputed;
  });
}

// Where the program calls scaled_dot_product_attention and PyTorch computes it without a kernel of its
// own: no other function has this softmax.
[[nodiscard]] bool falls_back(const blocks::evidence& of, trace::object_id module) {
  return std::ranges::any_of(of.blocks, [&](const blocks::block_facts& facts) {
    return facts.node && facts.module == module &&
           of.names[facts.node].starts_with("SafeSoftmaxBackward");
  });
}

void tell_fallback(proposal& made, const std::string& line) {
  made.id = "attention_fallback";
  made.title = "scaled_dot_product_attention is computed without a fused kernel";
  made.change = fmt::format(
      "give the call{} what a fused kernel takes: mostly numbers of 16 bits, keys and values "
      "repeated instead of enable_gqa, another mask, or no sdpa_kernel(SDPBackend.MATH) around it; "
      "torch.backends.cuda.can_use_efficient_attention(torch.backends.cuda.SDPAParams(q, k, v, "
      "mask, dropout, is_causal, enable_gqa), debug=True) warns of what is in the way",
      line.empty() ? "" : " at " + line);
  made.free = false;
  made.cost = "what it takes: other rounding in 16 bits, copies of repeated keys and values";
  made.not_when = "none of it can be had";
}

}  // namespace

proposals attention_kernel(const blocks::evidence& of) {
  const auto scores = grows_quadratically(of);
  if (!are_of_products(of, scores) || are_used_elsewhere(of, scores) || differentiates_twice(of))
    return {};
  std::uint64_t bytes = 0;
  std::uint64_t most = 0;
  trace::stack_id stack;
  trace::object_id module;
  for (const auto block : alive_after(of, of.now.allocated.request)) {
    if (!scores[block]) continue;
    bytes += bytes_of(of, block);
    if (bytes_of(of, block) <= most || !of.blocks[block].stack) continue;
    most = bytes_of(of, block);
    stack = of.blocks[block].stack;
    module = of.blocks[block].module;
  }
  if (bytes == 0) return {};
  proposal made;
  made.id = "attention_kernel";
  made.title = "Attention keeps the scores of all pairs of places";
  const auto line = line_of(of, stack);
  made.change = fmt::format(
      "torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=…) in the place of the "
      "product, softmax and product{}; with transformers attn_implementation=\"sdpa\"",
      line.empty() ? "" : " at " + line);
  made.evidence =
      fmt::format("{} of attention scores are alive at the peak", bytes_in_words(bytes));
  made.about = {bytes, "are attention scores"};
  made.source =
      "the kernel keeps the output and one number for each row of scores (FlashAttention, arXiv "
      "2205.14135, section 3)";
  made.free = true;
  made.cost = "none known: sums are in another order, and it is mostly faster";
  made.not_when =
      "the scores themselves are returned, shown or changed, or their bias needs a gradient of a "
      "shape that no kernel takes: PyTorch then falls back to what the program does now";
  if (falls_back(of, module)) tell_fallback(made, line);
  made.device = of.log.device;
  made.stack = stack;
  made.rewrite = [&of](allocator::request_log& log) {
    request_edits edits;
    const auto found = grows_quadratically(of);
    for (block_number block = 0; block < found.size(); ++block) {
      if (found[block]) edits.drop(block);
    }
    edits.apply(log);
  };
  return {made};
}

}  // namespace memtrace::advice
