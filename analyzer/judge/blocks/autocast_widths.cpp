// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/blocks/autocast_widths.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analyzer/judge/blocks/passes.h"

namespace memtrace::blocks {

using allocator::block_number;
using attribution::phase;

namespace {

// Which operations keep a block for their backward pass, as shown by what they allocated.
//
//   block 7 ─ kept as an operand by the operation that made block 8
//           └ kept by its own operation as a result
class retainers {
 public:
  struct use {
    allocator::block_number block = 0;
    allocator::block_number by = 0;  // the first block of the operation; of a result: itself
    bool output = false;             // a result of the operation
  };

  explicit retainers(const evidence& of);

  // Each operation that keeps it. Empty: none does, or the trace does not say.
  [[nodiscard]] std::span<const use> of(allocator::block_number block) const;
  // The operands that the operation that made this block keeps.
  [[nodiscard]] std::span<const use> operands_of(allocator::block_number by) const;

 private:
  std::vector<use> by_block_;
  std::vector<use> by_retainer_;  // operands alone
};

retainers::retainers(const evidence& of) {
  const auto blocks = of.blocks.size();
  for (const auto& kept : of.keepings) {
    const auto block = block_from(of, kept.block_event);
    if (block >= blocks || birth_event(of, block) != kept.block_event) continue;  // not there
    const auto by = kept.output ? block : block_from(of, kept.before);
    if (by >= blocks) continue;
    by_block_.push_back({block, by, kept.output});
    if (!kept.output) by_retainer_.push_back({block, by, false});
  }
  const auto in_order = [](const use& left, const use& right) {
    return std::tie(left.block, left.by, left.output) <
           std::tie(right.block, right.by, right.output);
  };
  std::ranges::sort(by_block_, in_order);
  std::ranges::sort(by_retainer_, [](const use& left, const use& right) {
    return std::tie(left.by, left.block) < std::tie(right.by, right.block);
  });
}

std::span<const retainers::use> retainers::of(block_number block) const {
  return equal_members(by_block_, block, &use::block);
}

std::span<const retainers::use> retainers::operands_of(block_number by) const {
  return equal_members(by_retainer_, by, &use::by);
}

template <std::size_t count>
[[nodiscard]] bool begins_with_any(std::string_view node,
                                   const std::array<std::string_view, count>& names) {
  return std::ranges::any_of(names, [&](std::string_view name) { return node.starts_with(name); });
}

constexpr std::array<std::string_view, 15> products = {
    "MmBackward",          "AddmmBackward",    "BmmBackward",      "BaddbmmBackward",
    "LinearBackward",      "MvBackward",       "AddmvBackward",    "AddbmmBackward",
    "ConvolutionBackward", "CudnnConvolution", "ScaledDotProduct", "CudnnRnnBackward",
    "MkldnnConvolution",   "EinsumBackward",   "ChainMatmul"};

constexpr std::array<std::string_view, 30> wide_operations = {"NativeLayerNormBackward",
                                                              "NativeGroupNormBackward",
                                                              "FusedRmsNormBackward",
                                                              "SoftmaxBackward",
                                                              "LogSoftmaxBackward",
                                                              "NllLoss",
                                                              "PowBackward",
                                                              "ExpBackward",
                                                              "Expm1Backward",
                                                              "LogBackward",
                                                              "Log2Backward",
                                                              "Log1PBackward",
                                                              "Log10Backward",
                                                              "RsqrtBackward",
                                                              "ReciprocalBackward",
                                                              "ProdBackward",
                                                              "CumsumBackward",
                                                              "CumprodBackward",
                                                              "SumBackward",
                                                              "NormBackward",
                                                              "LinalgVectorNormBackward",
                                                              "SoftplusBackward",
                                                              "MseLossBackward",
                                                              "SmoothL1LossBackward",
                                                              "HuberLossBackward",
                                                              "KlDivBackward",
                                                              "BinaryCrossEntropyWithLogits",
                                                              "CdistBackward",
                                                              "EmbeddingBackward",
                                                              "Upsample"};

[[nodiscard]] bool is_wide_norm(std::string_view type) {
  return type.find("LayerNorm") != type.npos || type.find("RMSNorm") != type.npos;
}

template <std::size_t count>
[[nodiscard]] bool contains_any(std::string_view type,
                                const std::array<std::string_view, count>& names) {
  return std::ranges::any_of(names, [&](auto name) { return type.find(name) != type.npos; });
}

// By the class of the module that runs, where no backward pass told.
[[nodiscard]] operation_kind kind_of_module(std::string_view type) {
  constexpr std::array<std::string_view, 5> wide = {"LayerNorm", "RMSNorm", "GroupNorm",
                                                    "Embedding", "Loss"};
  constexpr std::array<std::string_view, 5> follow = {"BatchNorm", "Dropout", "LU", "Pool",
                                                      "Upsample"};
  constexpr std::array<std::string_view, 5> product = {"Linear", "Conv", "LSTM", "GRU", "RNN"};
  if (contains_any(type, wide)) return operation_kind::wide;
  if (contains_any(type, follow)) return operation_kind::follows;
  if (contains_any(type, product)) return operation_kind::product;
  return operation_kind::unknown;
}

// Losses of transformers that cast logits to 32 bits themselves, which is seen only where they are
// not in 32 bits already.
[[nodiscard]] bool is_upcasting_loss(std::string_view function) {
  return function == "ForCausalLMLoss" || function == "ForMaskedLMLoss";
}

// The facts about the operations that ran at one place of the forward pass.
struct operations_at {
  operation_kind kind = operation_kind::unknown;
  bool softmax = false;        // keeps its own result, in 32 bits
  bool cross_entropy = false;  // log_softmax that is told the width of its operand
  bool program_casts = false;
  // The largest block that it made; a line may make sums beside it.
  std::uint64_t bytes = 0;
  std::uint8_t bits = 32;
  std::uint8_t operand_bits = 32;
};

class reading {
 public:
  explicit reading(const evidence& of) : of_(of), retainers_(of) {}

  [[nodiscard]] autocast_widths run() {
    const auto blocks = of_.blocks.size();
    found_.bits.assign(blocks, 32);
    found_.operand_bits.assign(blocks, 32);
    found_.kinds.assign(blocks, operation_kind::unknown);
    found_.kept_itself.assign(blocks, false);
    found_.cast_ends.assign(blocks, 0);
    learn_operations();
    for (const auto& [object, module] : of_.modules) {
      if (is_wide_norm(of_.names[module.type])) wide_sums_.insert(module.root);
    }
    for (block_number block = 0; block < blocks; ++block) {
      const auto& facts = of_.blocks[block];
      if (facts.born_in == phase::forward) follow_forward(block, facts);
      if (facts.born_in == phase::backward) follow_backward(block, facts);
    }
    for (block_number block = 0; block < blocks; ++block) find_copies(block);
    return std::move(found_);
  }

 private:
  // Where several run at one place the product decides, then a wide one: what follows is as wide.
  void learn_operations() {
    for (const auto& facts : of_.blocks) {
      if (facts.born_in != phase::backward || !facts.node || !facts.forward) continue;
      tells_ = true;
      const auto node = of_.names[facts.node];
      const auto [known, fresh] = places_.try_emplace(facts.forward);
      auto& place = known->second;
      if (fresh) look_at_frames(facts.forward, place);
      const auto kind = kind_of_node(node);
      const bool first = place.kind == operation_kind::unknown;
      if (first || kind == operation_kind::product ||
          (kind == operation_kind::wide && place.kind == operation_kind::follows)) {
        place.kind = kind;
      }
      if (node.starts_with("SoftmaxBackward") || node.starts_with("LogSoftmaxBackward")) {
        place.softmax = true;
      }
    }
  }

  void look_at_frames(trace::stack_id stack, operations_at& place) const {
    bool innermost = true;
    for (auto node = of_.names[stack]; stack; stack = node.parent, node = of_.names[stack]) {
      const auto function = of_.names[of_.names[node.innermost].function];
      if (innermost && function == "cross_entropy") place.cross_entropy = true;
      if (is_upcasting_loss(function)) place.program_casts = true;
      innermost = false;
    }
  }

  void follow_forward(block_number block, const block_facts& facts) {
    if (facts.call != 0 && (facts.call != call_ || facts.root != root_)) {
      previous_ = 32;
      call_ = facts.call;
      root_ = facts.root;
    }
    auto& place = places_[facts.stack];
    const auto module = of_.modules.find(facts.module);
    if (place.kind == operation_kind::unknown && module != of_.modules.end()) {
      place.kind = kind_of_module(of_.names[module->second.type]);
    }
    // Masks, and what a normalisation saw, are not what the next operation is given.
    const bool is_result = facts.element_bits == 0 || facts.element_bits == 32;
    const auto operand = bits_of_operands(block);
    const auto bits = is_result ? bits_of_result(block, facts, place, operand) : previous_;
    if (bytes_of(of_, block) >= place.bytes) {
      place.bytes = bytes_of(of_, block);
      place.bits = bits;
      place.operand_bits = operand;
    }
    previous_ = bits;
    take(block, place, bits);
    found_.operand_bits[block] = operand;
    if (!place.softmax || !keeps_result(block) || bytes_of(of_, block) < place.bytes) return;
    if (operand == 16 && bits == 32) found_.cast_ends[block] = end_of_cast(block, place);
  }

  [[nodiscard]] std::uint64_t end_of_cast(block_number block, const operations_at& place) const {
    auto last = block;
    if (place.program_casts) {
      for (const auto& use : retainers_.of(block)) last = std::max(last, use.by);
    }
    return birth_event(of_, last) + 1;
  }

  [[nodiscard]] bool keeps_result(block_number block) const {
    const auto uses = retainers_.of(block);
    return std::ranges::any_of(uses, [](const auto& use) { return use.output; });
  }

  [[nodiscard]] std::uint8_t bits_of_result(block_number block, const block_facts& facts,
                                            const operations_at& place,
                                            std::uint8_t operand) const {
    if (place.softmax && keeps_result(block)) {
      return place.cross_entropy && !place.program_casts ? operand : std::uint8_t{32};
    }
    switch (place.kind) {
      case operation_kind::product:
        return 16;
      case operation_kind::wide:
        return 32;
      case operation_kind::unknown:
        // A sum of a residual stream that a normalisation in 32 bits feeds on is promoted. Before the
        // first backward pass nothing tells what a loss makes outside of the modules.
        if (!tells_ && (!facts.module || facts.module == facts.root)) return 32;
        return wide_sums_.contains(facts.root) ? std::uint8_t{32} : operand;
      default:
        return operand;
    }
  }

  // The widest of what the operation keeps, and of what is as large as its result and given back
  // right after it; else what was made before it, of the same size if there is any.
  [[nodiscard]] std::uint8_t bits_of_operands(block_number block) const {
    std::uint8_t widest = 0;
    for (const auto& use : retainers_.operands_of(block)) {
      const auto& facts = of_.blocks[use.block];
      if (facts.born_in != phase::forward || facts.element_bits != 32) continue;
      widest = std::max(widest, found_.bits[use.block]);
    }
    const auto born = birth_event(of_, block);
    const auto next = block + 1 < of_.blocks.size() ? birth_event(of_, block + 1) : end_event(of_);
    auto latest = previous_;
    for (auto before = block - std::min(block, most_operands_back); before < block; ++before) {
      const auto& facts = of_.blocks[before];
      if (facts.born_in != phase::forward || bytes_of(of_, before) != bytes_of(of_, block))
        continue;
      latest = found_.bits[before];
      const auto death = death_event(of_, before);
      if (death > born && death <= next) widest = std::max(widest, latest);
    }
    return widest == 0 ? latest : widest;
  }

  void follow_backward(block_number block, const block_facts& facts) {
    const auto place = places_.find(facts.forward);
    if (place == places_.end()) return;
    auto bits = place->second.bits;
    const auto node = of_.names[facts.node];
    const auto kind = kind_of_node(node);
    if (kind == operation_kind::product) bits = 16;
    if (kind == operation_kind::wide) bits = 32;
    take(block, place->second, bits);
    found_.kinds[block] = kind;
    // One line takes the logarithm and the loss: the loss is given what the logarithm made.
    if (node.starts_with("NllLoss") && place->second.softmax) {
      found_.operand_bits[block] = place->second.bits;
    }
    if (node.starts_with("LogSoftmaxBackward") || node.starts_with("SoftmaxBackward")) {
      found_.bits[block] = place->second.bits;
    }
  }

  void take(block_number block, const operations_at& place, std::uint8_t bits) {
    found_.bits[block] = bits;
    found_.operand_bits[block] = place.operand_bits;
    found_.kinds[block] = place.kind;
  }

  // Finds the copies that products and wide operations keep instead of this block.
  void find_copies(block_number block) {
    const auto& facts = of_.blocks[block];
    if (!facts.kept_by_autograd) return;
    const auto uses = retainers_.of(block);
    if (uses.empty()) found_.kept_itself[block] = true;
    for (const auto& use : uses) {
      auto bits = found_.bits[block];
      if (!use.output && of_.blocks[use.by].born_in == phase::forward) {
        const auto kind = kind_of_operation(use.by);
        if (kind == operation_kind::product) bits = 16;
        if (kind == operation_kind::wide) bits = 32;
      }
      if (bits == found_.bits[block]) {
        found_.kept_itself[block] = true;
      } else {
        found_.copies.push_back({block, use.by, bits});
      }
    }
  }

  // At a line with several the block itself may be what a softmax made.
  [[nodiscard]] operation_kind kind_of_operation(block_number by) const {
    const auto place = places_.find(of_.blocks[by].stack);
    if (place == places_.end()) return operation_kind::unknown;
    return place->second.kind;
  }

  static constexpr block_number most_operands_back = 16;

  const evidence& of_;
  retainers retainers_;
  autocast_widths found_;
  std::map<trace::stack_id, operations_at> places_;
  std::set<trace::object_id> wide_sums_;  // roots
  bool tells_ = false;                    // there was a backward pass
  std::uint32_t call_ = 0;
  trace::object_id root_;
  std::uint8_t previous_ = 32;
};

}  // namespace

operation_kind kind_of_node(std::string_view node) {
  if (node.empty()) return operation_kind::unknown;
  if (begins_with_any(node, products)) return operation_kind::product;
  if (begins_with_any(node, wide_operations)) return operation_kind::wide;
  return operation_kind::follows;
}

autocast_widths widths_under_autocast(const evidence& of) {
  return reading(of).run();
}

}  // namespace memtrace::blocks
