// SPDX-License-Identifier: Apache-2.0
//
// A loss over a large vocabulary: the logits of all places, what the loss makes of them and their
// gradient are each as large as places times words. Head and loss of an eighth of the places at a
// time, computed again in the backward pass, have an eighth of each.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "analyzer/judge/advice/batch_share.h"
#include "analyzer/judge/advice/model_parts.h"
#include "analyzer/judge/advice/pieces.h"
#include "analyzer/judge/advice/program_words.h"
#include "analyzer/judge/blocks/passes.h"
#include "analyzer/trace/code/frames.h"

namespace memtrace::advice {

using allocator::block_number;
using attribution::category;
using attribution::phase;

namespace {

constexpr std::uint32_t chunks = 8;

struct vocabulary_loss {
  std::vector<block_number> blocks;  // of places times words each: logits and what is made of them
  std::vector<block_number> gradients;  // of the head's weights, where a backward pass makes them
  trace::stack_id stack;                // of the largest one that the loss makes
};

// Of weights that are matrices, or of autocast's copies. Autograd may keep them transposed.
[[nodiscard]] std::set<std::uint32_t> sides_of_matrices(const blocks::evidence& of) {
  std::set<std::uint32_t> sides;
  for (const auto& facts : of.blocks) {
    if ((facts.what == category::weights || facts.cast_copy) && facts.dimensions == 2) {
      sides.insert({facts.rows, facts.columns});
    }
  }
  return sides;
}

class search {
 public:
  explicit search(const blocks::evidence& of)
      : of_(of),
        passes_(passes_of(of)),
        like_parameters_(shaped_like_parameters(of)),
        heads_(sides_of_matrices(of)) {}

  [[nodiscard]] vocabulary_loss run() {
    for (block_number block = 0; block < of_.blocks.size(); ++block) {
      if (is_of_the_loss(block)) find_logits(block, of_.blocks[block]);
    }
    if (const auto refused = fatal_refusal(of_)) look_at_refusal(*refused);
    if (words_.empty() || are_used_elsewhere()) return {};
    for (block_number block = 0; block < of_.blocks.size(); ++block) look_at_backward(block);
    std::ranges::sort(found_.blocks);
    const auto end = std::unique(found_.blocks.begin(), found_.blocks.end());
    found_.blocks.erase(end, found_.blocks.end());
    return std::move(found_);
  }

 private:
  using loss_shape = std::pair<std::uint32_t, std::uint32_t>;  // places and words

  // What cross_entropy keeps of a matrix of places and words, of which a matrix of weights has as
  // many: a Linear layer made the logits, and can make a part of them.
  [[nodiscard]] bool is_of_the_loss(block_number block) const {
    const auto facts = of_.blocks[block];
    return passes_.of_block[block] == blocks::activity::training &&
           facts.born_in == phase::forward && !facts.recomputed && facts.kept_by_autograd &&
           facts.dimensions == 2 && facts.rows >= chunks && heads_.contains(facts.columns) &&
           passes_through(of_, facts.stack, "cross_entropy");
  }

  // Memory ran out for what the loss would have made: nothing kept it, so that its shape is not known
  // but by its bytes: those of places with as many words as the losses before it had, else the most
  // that a matrix of weights has.
  void look_at_refusal(block_number refused) {
    auto facts = of_.blocks[refused];
    const bool in_loss = passes_through(of_, facts.stack, "cross_entropy");
    if (facts.forward || !(in_loss || lines_.contains(facts.stack))) return;
    const auto& sides = words_.empty() ? heads_ : words_;
    for (auto words = sides.rbegin(); words != sides.rend(); ++words) {
      for (const std::uint64_t width : {4, 2}) {
        const auto row = std::uint64_t{*words} * width;
        const auto places = bytes_of(of_, refused) / row;
        if (places < chunks || bytes_of(of_, refused) % row != 0) continue;
        facts.rows = static_cast<std::uint32_t>(places);
        facts.columns = *words;
        find_logits(refused, facts);
        return;
      }
    }
  }

  // From the loss back to the head's output: casts and copies that somebody made in between.
  void find_logits(block_number loss, const blocks::block_facts& facts) {
    constexpr block_number most = 64;
    words_.insert(facts.columns);
    lines_.insert(facts.stack);
    shapes_.insert({facts.rows, facts.columns});
    found_.blocks.push_back(loss);
    for (auto block = loss; block > 0 && loss - block < most;) {
      const auto before = of_.blocks[--block];
      if (before.born_in == phase::backward) break;
      if (!is_places_times_words(block, facts)) continue;
      found_.blocks.push_back(block);
      made_before_.insert(birth_event(of_, block));
      if (before.module && before.module != before.root) break;  // the head
      lines_.insert(before.stack);
    }
    if (!found_.stack || bytes_of(of_, loss) > most_) {
      most_ = bytes_of(of_, loss);
      found_.stack = facts.stack;
    }
  }

  // An operation keeps the logits themselves, which no cross-entropy does: the program computes with
  // them beside it.
  [[nodiscard]] bool are_used_elsewhere() const {
    return std::ranges::any_of(of_.keepings, [&](const blocks::keeping& kept) {
      return !kept.output && made_before_.contains(kept.block_event);
    });
  }

  // Gradients of the logits and of what was made of them, and of the head's weights.
  void look_at_backward(block_number block) {
    const auto facts = of_.blocks[block];
    if (facts.born_in != phase::backward) return;
    if (facts.what == category::gradients) {
      if (is_of_the_head(facts)) found_.gradients.push_back(block);
      return;
    }
    if (like_parameters_[block] || !lines_.contains(facts.forward)) return;
    if (std::ranges::any_of(shapes_, [&](const loss_shape& loss) {
          return has_places_times_words(bytes_of(of_, block), loss);
        })) {
      found_.blocks.push_back(block);
    }
  }

  // As many places as the loss has, or those that it leaves out besides: the last of each sequence.
  [[nodiscard]] bool is_places_times_words(block_number block,
                                           const blocks::block_facts& loss) const {
    const auto facts = of_.blocks[block];
    if (facts.dimensions != 0 && facts.columns != loss.columns) return false;
    return has_places_times_words(bytes_of(of_, block), {loss.rows, loss.columns});
  }

  [[nodiscard]] static bool has_places_times_words(std::uint64_t bytes, const loss_shape& loss) {
    return std::ranges::any_of(std::array<std::uint64_t, 2>{2, 4}, [&](std::uint64_t width) {
      const auto row = std::uint64_t{loss.second} * width;
      const auto places = bytes / row;
      return bytes % row == 0 && places >= loss.first && places < 2 * std::uint64_t{loss.first};
    });
  }

  [[nodiscard]] bool is_of_the_head(const blocks::block_facts& gradient) const {
    const auto* const shape = weights_.of(gradient);
    return shape != nullptr && (words_.contains(shape->rows) || words_.contains(shape->columns));
  }

  const blocks::evidence& of_;
  blocks::run_passes passes_;
  std::vector<bool> like_parameters_;
  std::set<std::uint32_t> heads_;
  std::set<std::uint32_t> words_;        // of the losses
  std::set<trace::stack_id> lines_;      // of the loss, and of what is between it and the head
  std::set<loss_shape> shapes_;          // of the losses
  std::set<std::uint64_t> made_before_;  // births of the logits and of their copies
  weight_shapes weights_{of_};
  vocabulary_loss found_;
  std::uint64_t most_ = 0;
};

void divide(const vocabulary_loss& loss, const blocks::evidence& of, request_edits& edits) {
  for (const auto block : loss.blocks) edits.scale(block, 1, chunks);
  // Each part has a gradient of the head, which is added to that of the parts before.
  for (const auto block : loss.gradients) {
    const auto after = birth_event(of, block) + 1;
    const auto part = edits.allocate(after, block);
    edits.free(part, after);
  }
}

// Whether the user's own code calls cross_entropy: else it is a library that has to be told.
[[nodiscard]] bool is_own_call(const blocks::evidence& of, trace::stack_id stack) {
  const auto frames = code::frames_of(of.names, stack);
  const auto loss = std::ranges::find(frames, "cross_entropy", &code::source_frame::function);
  const auto caller = std::find_if(loss, frames.end(), [](const code::source_frame& one) {
    return !one.file.ends_with("torch/nn/functional.py") &&
           one.file.find("torch/nn/modules/") == std::string::npos;
  });
  return caller != frames.end() && caller->user;
}

[[nodiscard]] std::string change_of(const blocks::evidence& of, trace::stack_id stack) {
  if (owner_of_loop(of, passes_of(of)) == loop_owner::transformers) {
    return "use_liger_kernel=True in TrainingArguments (pip install liger-kernel)";
  }
  if (!is_own_call(of, stack)) {
    return "a loss that never makes all logits: AutoLigerKernelForCausalLM of liger-kernel for a "
           "model of transformers, else its LigerFusedLinearCrossEntropyLoss of the head's "
           "weights, "
           "the hidden states and the targets";
  }
  const auto line = line_of(of, stack);
  return fmt::format(
      "{}: for h, t in zip(hidden.chunk({}), targets.chunk({})): loss = loss + "
      "torch.utils.checkpoint.checkpoint(lambda h, t: F.cross_entropy(head(h), t, "
      "reduction=\"sum\"), h, t, use_reentrant=False), divided by (targets != -100).sum() at the "
      "end; hidden is (places, width), and ignore_index and weight stay as they are. Liger's "
      "LigerFusedLinearCrossEntropyLoss does it in one kernel",
      line.empty() ? "where the loss is computed" : "at " + line, chunks, chunks);
}

}  // namespace

proposals chunked_loss(const blocks::evidence& of) {
  const auto loss = search(of).run();
  std::vector<bool> is_of_it(of.blocks.size(), false);
  for (const auto block : loss.blocks) is_of_it[block] = true;
  std::uint64_t bytes = 0;
  for (const auto block : alive_after(of, of.now.allocated.request)) {
    if (is_of_it[block]) bytes += bytes_of(of, block);
  }
  if (bytes == 0) return {};
  proposal made;
  made.id = "chunked_loss";
  made.amount = fmt::format("1/{}", chunks);
  made.title = "Logits of all places are there at once, and what the loss makes of them";
  made.change = change_of(of, loss.stack);
  made.evidence = fmt::format(
      "at the peak {} are logits, what the loss makes of them, and their "
      "gradients",
      bytes_in_words(bytes));
  made.about = {bytes, "are logits and what the loss makes of them"};
  made.source =
      "each is places × words; the head and the loss of one place need nothing of another (Liger "
      "Kernel, arXiv 2410.10989, section 3.2)";
  made.cost = "the product of the head is computed once more";
  made.not_when = "the program uses the logits beside the loss";
  made.device = of.log.device;
  made.stack = loss.stack;
  made.rewrite = [&of](allocator::request_log& log) {
    request_edits edits;
    divide(search(of).run(), of, edits);
    edits.apply(log);
  };
  return {made};
}

}  // namespace memtrace::advice
