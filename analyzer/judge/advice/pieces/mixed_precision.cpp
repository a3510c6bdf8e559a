// SPDX-License-Identifier: Apache-2.0
//
// Autocast in bfloat16: what autograd keeps shrinks to half where autocast computes in 16 bits;
// weights, gradients and states stay, and each weight that takes part in a product gets a copy in
// 16 bits from its forward to its backward.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "analyzer/judge/advice/batch_share.h"
#include "analyzer/judge/advice/pieces.h"
#include "analyzer/judge/advice/program_words.h"
#include "analyzer/judge/blocks/autocast_widths.h"
#include "analyzer/judge/blocks/last_uses.h"
#include "analyzer/judge/blocks/passes.h"

namespace memtrace::advice {

using allocator::block_number;
using attribution::category;
using attribution::phase;

namespace {

class precision_change {
 public:
  precision_change(const blocks::evidence& of, request_edits& edits)
      : of_(of),
        edits_(edits),
        passes_(passes_of(of)),
        widths_(widths_under_autocast(of)),
        like_parameters_(shaped_like_parameters(of)),
        ends_of_use_(ends_of_use_in_forward(of)) {}

  void make() {
    for (block_number block = 0; block < of_.blocks.size(); ++block) {
      if (passes_.of_block[block] != blocks::activity::training) continue;
      change(block, of_.blocks[block]);
    }
    copy_weights();
  }

 private:
  [[nodiscard]] static bool is_computed(category what) {
    return what == category::activations || what == category::outputs ||
           what == category::kv_cache || what == category::collected ||
           what == category::temporaries;
  }

  void change(block_number block, const blocks::block_facts& facts) {
    const bool other_width = facts.element_bits != 0 && facts.element_bits != 32;
    if (other_width) return;
    if (facts.what == category::inputs) {
      // The model's input stays; a product keeps its copy.
      if (facts.kept_by_autograd && facts.element_bits == 32) copy_until_death(block);
    } else if (facts.what == category::gradients || like_parameters_[block]) {
      made_from_narrow(block);
    } else if (facts.born_in == phase::forward && is_computed(facts.what)) {
      change_forward(block, facts);
    } else if (facts.born_in == phase::backward && is_computed(facts.what)) {
      change_backward(block);
    }
  }

  void change_forward(block_number block, const blocks::block_facts& facts) {
    if (widths_.cast_ends[block] != 0) cast_operand(block);
    const bool narrow = widths_.bits[block] == 16;
    if (narrow) edits_.scale(block, 1, 2);
    if (!facts.kept_by_autograd || facts.what != category::activations) return;
    // Shares are of the changed size.
    for (const auto& copy : copies_of(block)) {
      const auto made = narrow ? edits_.allocate(birth_event(of_, copy.by), block, 2, 1)
                               : edits_.allocate(birth_event(of_, copy.by), block, 1, 2);
      edits_.free(made, death_event(of_, block));
    }
    if (!widths_.kept_itself[block]) end_with_its_use(block);
  }

  [[nodiscard]] std::span<const blocks::cast_copy> copies_of(block_number block) const {
    return equal_members(widths_.copies, block, &blocks::cast_copy::of);
  }

  // A softmax in 32 bits is given a copy.
  void cast_operand(block_number block) {
    const auto cast = edits_.allocate(birth_event(of_, block), block);
    edits_.free(cast, widths_.cast_ends[block]);
  }

  void change_backward(block_number block) {
    const bool narrow = widths_.bits[block] == 16;
    const bool for_narrow = widths_.operand_bits[block] == 16;
    if (narrow && !for_narrow && widths_.kinds[block] == blocks::operation_kind::product) {
      made_narrow(block);
    } else if (narrow) {
      edits_.scale(block, 1, 2);
    } else if (for_narrow && widths_.kinds[block] == blocks::operation_kind::wide) {
      const auto after = birth_event(of_, block) + 1;
      const auto copy = edits_.allocate(after, block, 1, 2);
      edits_.free(copy, std::max(after, death_event(of_, block)));
      edits_.free_at(block, after);
    }
  }

  // The gradient of a weight comes out of a product in 16 bits and is cast to the weight's width.
  void made_from_narrow(block_number block) {
    if (widths_.kinds[block] == blocks::operation_kind::product) made_narrow(block);
  }

  void made_narrow(block_number block) {
    const auto narrow = edits_.allocate(birth_event(of_, block), block, 1, 2);
    edits_.free(narrow, birth_event(of_, block) + 1);
  }

  void end_with_its_use(block_number block) {
    const auto used = ends_of_use_[block];
    if (used != 0 && used < death_event(of_, block)) edits_.free_at(block, used);
  }

  void copy_until_death(block_number block) {
    const auto pass = passes_.at(birth_event(of_, block));
    const auto begin = birth_event(of_, block) + 1;
    const auto copy = edits_.allocate(begin, block, 1, 2);
    const auto end = pass ? passes_.training[*pass].end : death_event(of_, block);
    edits_.free(copy, std::min(death_event(of_, block), std::max(begin, end)));
  }

  // One module in one training pass.
  struct module_use {
    std::uint64_t first = 0;  // block of its forward that a product makes
    std::uint64_t last = 0;   // block of its backward
    block_number gradient = blocks::never;
  };

  // Each weight of modules with a product: from the module's forward to its backward.
  void copy_weights() {
    std::map<std::pair<std::size_t, trace::object_id>, module_use> uses;
    for (block_number block = 0; block < of_.blocks.size(); ++block) {
      const auto& facts = of_.blocks[block];
      if (!facts.module || widths_.kinds[block] != blocks::operation_kind::product) continue;
      const auto event = birth_event(of_, block);
      const auto pass = passes_.at(event);
      if (!pass || event >= passes_.training[*pass].end) continue;
      auto& use = uses[{*pass, facts.module}];
      if (facts.born_in == phase::forward && use.first == 0) use.first = event;
      if (facts.born_in == phase::backward) use.last = event;
      if (facts.what == category::gradients || like_parameters_[block]) {
        const bool larger =
            use.gradient == blocks::never || bytes_of(of_, block) > bytes_of(of_, use.gradient);
        if (larger) use.gradient = block;
      }
    }
    const auto weights = weights_by_module();
    for (const auto& [key, use] : uses) {
      if (use.first == 0 || use.last == 0) continue;
      const auto own = weights.find(key.second);
      if (own == weights.end()) {  // tied: its gradient is as large
        if (use.gradient != blocks::never) copy_weight(use.gradient, use);
        continue;
      }
      for (const auto weight : own->second) copy_weight(weight, use);
    }
  }

  void copy_weight(block_number like, const module_use& use) {
    const auto copy = edits_.allocate(use.first, like, 1, 2);
    edits_.free(copy, use.last + 1);
  }

  [[nodiscard]] std::map<trace::object_id, std::vector<block_number>> weights_by_module() const {
    std::map<std::pair<trace::object_id, std::string_view>, trace::object_id> places;
    for (const auto& [object, module] : of_.modules) {
      places[{module.root, of_.names[module.path]}] = object;
    }
    std::map<trace::object_id, std::vector<block_number>> found;
    for (block_number block = 0; block < of_.blocks.size(); ++block) {
      const auto& facts = of_.blocks[block];
      if (facts.what != category::weights || !facts.name) continue;
      const auto name = of_.names[facts.name];
      const auto dot = name.rfind('.');
      const auto path = dot == name.npos ? std::string_view() : name.substr(0, dot);
      const auto module = places.find({facts.root, path});
      if (module != places.end()) found[module->second].push_back(block);
    }
    return found;
  }

  const blocks::evidence& of_;
  request_edits& edits_;
  blocks::run_passes passes_;
  blocks::autocast_widths widths_;
  std::vector<bool> like_parameters_;
  std::vector<std::uint64_t> ends_of_use_;
};

struct kept_by_width {
  std::uint64_t halved = 0;
  std::uint64_t stays = 0;
};

// Adds up what autograd keeps at the peak.
[[nodiscard]] kept_by_width look_at_peak(const blocks::evidence& of) {
  const auto widths = widths_under_autocast(of);
  kept_by_width found;
  for (const auto block : alive_after(of, of.now.allocated.request)) {
    const auto& facts = of.blocks[block];
    if (facts.what != category::activations || facts.element_bits != 32) continue;
    const bool narrow = widths.bits[block] == 16;
    const auto copies = equal_members(widths.copies, block, &blocks::cast_copy::of);
    const bool halves = copies.empty() ? narrow : !narrow && !widths.kept_itself[block];
    (halves ? found.halved : found.stays) += bytes_of(of, block);
  }
  return found;
}

[[nodiscard]] std::uint64_t bytes_at_peak(const blocks::evidence& of, category what) {
  std::uint64_t sum = 0;
  for (const auto block : alive_after(of, of.now.allocated.request)) {
    if (of.blocks[block].what == what) sum += bytes_of(of, block);
  }
  return sum;
}

// Autocast narrows products with weights of 32 bits; what a model of 16 has in 32, the program has
// widened itself.
[[nodiscard]] bool has_narrow_weights(const blocks::evidence& of) {
  std::uint64_t narrow = 0;
  std::uint64_t all = 0;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    if (facts.what != category::weights || facts.element_bits == 0) continue;
    all += bytes_of(of, block);
    if (facts.element_bits == 16) narrow += bytes_of(of, block);
  }
  return 2 * narrow > all;
}

[[nodiscard]] bool trains_in_32_bits(const blocks::evidence& of, const blocks::run_passes& passes) {
  if (!passes.trains() || of.attributed.autocast || has_narrow_weights(of)) return false;
  return std::any_of(of.blocks.begin(), of.blocks.end(), [](const blocks::block_facts& facts) {
    return facts.what == category::activations && facts.element_bits == 32;
  });
}

[[nodiscard]] std::string what_to_write(bool brain, loop_owner owner) {
  if (owner == loop_owner::transformers)
    return fmt::format("{}=True in TrainingArguments", brain ? "bf16" : "fp16");
  if (owner == loop_owner::lightning)
    return fmt::format("Trainer(precision=\"{}-mixed\")", brain ? "bf16" : "16");
  if (brain) {
    return "with torch.autocast(\"cuda\", dtype=torch.bfloat16): around forward and loss, not "
           "around backward";
  }
  return "with torch.autocast(\"cuda\", dtype=torch.float16): around forward and loss; "
         "scaler = torch.amp.GradScaler(\"cuda\"), scaler.scale(loss).backward(), "
         "scaler.step(optimizer), scaler.update()";
}

}  // namespace

proposals mixed_precision(const blocks::evidence& of) {
  const auto passes = passes_of(of);
  if (!trains_in_32_bits(of, passes)) return {};
  const auto kept = look_at_peak(of);
  proposal made;
  made.id = "mixed_precision";
  made.group = "precision";
  const bool brain = computes_in_bfloat16(of);
  made.amount = brain ? "bfloat16" : "float16";
  made.title = "Activations are kept in 32 bits";
  made.change = what_to_write(brain, owner_of_loop(of, passes));
  if (calls_function(of, passes, "binary_cross_entropy")) {
    made.change +=
        "; binary_cross_entropy_with_logits (BCEWithLogitsLoss) in the place of sigmoid and "
        "binary_cross_entropy (BCELoss), which raises an error under autocast";
  }
  const auto copies = bytes_in_words(bytes_at_peak(of, category::weights));
  made.evidence =
      kept.halved + kept.stays == 0
          ? fmt::format(
                "what the operations at the peak are given and make is in 32 bits; {} of weights "
                "gain copies in 16 bits",
                copies)
          : fmt::format(
                "at the peak autograd keeps {} in 32 bits: {} would be kept in 16, {} stays "
                "(normalisation, softmax, sums, losses); {} of weights gain copies in 16 bits",
                bytes_in_words(kept.halved + kept.stays), bytes_in_words(kept.halved),
                bytes_in_words(kept.stays), copies);
  made.source =
      "PyTorch's list of operations that autocast runs in 16 and in 32 bits "
      "(docs.pytorch.org/docs/stable/amp.html); weights and gradients stay in 32";
  made.cost = fmt::format(
      "products round to {} bits of mantissa; usually faster on GPUs with tensor "
      "cores",
      brain ? 8 : 11);
  made.not_when =
      "weights are most of the memory: their copies then cost more than activations save";
  made.device = of.log.device;
  made.rewrite = [&of](allocator::request_log& log) {
    request_edits edits;
    precision_change(of, edits).make();
    edits.apply(log);
  };
  return {made};
}

}  // namespace memtrace::advice
