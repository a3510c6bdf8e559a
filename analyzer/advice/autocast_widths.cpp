// SPDX-License-Identifier: Apache-2.0
#include "analyzer/advice/autocast_widths.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace memtrace::advice {

using allocator::block_number;
using attribution::category;
using attribution::phase;

namespace {

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

constexpr std::array<std::string_view, 3> normalisations = {
    "NativeLayerNormBackward", "NativeGroupNormBackward", "FusedRmsNormBackward"};

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

// What is known of the operations that ran at one place of the forward pass.
struct operations_at {
  operation_kind kind = operation_kind::unknown;
  bool normalises = false;
  bool log_softmax = false;
  std::uint8_t bits = 32;  // of what it made last
};

class reading {
 public:
  explicit reading(const blocks::evidence& of) : of_(of) {}

  [[nodiscard]] autocast_widths run() {
    const auto blocks = of_.blocks.size();
    found_.bits.assign(blocks, 32);
    found_.kinds.assign(blocks, operation_kind::unknown);
    found_.normalises.assign(blocks, false);
    found_.feeds_product.assign(blocks, false);
    found_.takes_log_softmax.assign(blocks, false);
    learn_operations();
    for (const auto& [object, module] : of_.modules) {
      if (is_wide_norm(of_.names[module.type])) wide_sums_.insert(module.root);
    }
    for (block_number block = 0; block < blocks; ++block) {
      const auto& facts = of_.blocks[block];
      if (facts.born_in == phase::forward) {
        follow_forward(block, facts);
        const bool by_product = found_.kinds[block] == operation_kind::product;
        if (latest_ != blocks::never && by_product) found_.feeds_product[latest_] = true;
        latest_ = block;
      }
      if (facts.born_in == phase::backward) follow_backward(block, facts);
    }
    return std::move(found_);
  }

 private:
  // Of several at one place the product decides, then what is wide: what follows them is as wide.
  void learn_operations() {
    for (const auto& facts : of_.blocks) {
      if (facts.born_in != phase::backward || !facts.node || !facts.forward) continue;
      const auto node = of_.names[facts.node];
      auto& place = places_[facts.forward];
      const auto kind = kind_of_node(node);
      const bool first = place.kind == operation_kind::unknown;
      if (first || kind == operation_kind::product ||
          (kind == operation_kind::wide && place.kind == operation_kind::follows)) {
        place.kind = kind;
      }
      if (begins_with_any(node, normalisations)) place.normalises = true;
      if (node.starts_with("LogSoftmaxBackward")) place.log_softmax = true;
    }
  }

  void follow_forward(block_number block, const blocks::block_facts& facts) {
    if (facts.call != call_ || facts.root != root_) {
      previous_ = 32;
      latest_ = blocks::never;
    }
    call_ = facts.call;
    root_ = facts.root;
    auto& place = places_[facts.stack];
    const auto module = of_.modules.find(facts.module);
    if (place.kind == operation_kind::unknown && module != of_.modules.end()) {
      place.kind = kind_of_module(of_.names[module->second.type]);
    }
    switch (place.kind) {
      case operation_kind::product:
        previous_ = 16;
        break;
      case operation_kind::wide:
        previous_ = 32;
        break;
      case operation_kind::unknown:
        // A sum of a residual stream that a normalisation in 32 bits feeds on is promoted.
        if (wide_sums_.contains(facts.root)) previous_ = 32;
        break;
      case operation_kind::follows:
        break;
    }
    place.bits = previous_;
    take(block, place, previous_);
  }

  void follow_backward(block_number block, const blocks::block_facts& facts) {
    const auto place = places_.find(facts.forward);
    if (place == places_.end()) return;
    auto bits = place->second.bits;
    const auto kind = kind_of_node(of_.names[facts.node]);
    if (kind == operation_kind::product) bits = 16;
    if (kind == operation_kind::wide) bits = 32;
    take(block, place->second, bits);
    found_.takes_log_softmax[block] = of_.names[facts.node].starts_with("LogSoftmaxBackward");
    found_.kinds[block] = kind;
  }

  void take(block_number block, const operations_at& place, std::uint8_t bits) {
    found_.bits[block] = bits;
    found_.kinds[block] = place.kind;
    found_.normalises[block] = place.normalises;
    found_.takes_log_softmax[block] = place.log_softmax;
  }

  const blocks::evidence& of_;
  autocast_widths found_;
  std::map<trace::stack_id, operations_at> places_;
  std::set<trace::object_id> wide_sums_;  // roots
  std::uint32_t call_ = 0;
  trace::object_id root_;
  std::uint8_t previous_ = 32;
  block_number latest_ = blocks::never;  // of this call's forward
};

}  // namespace

operation_kind kind_of_node(std::string_view node) {
  if (node.empty()) return operation_kind::unknown;
  if (begins_with_any(node, products)) return operation_kind::product;
  if (begins_with_any(node, wide_operations)) return operation_kind::wide;
  return operation_kind::follows;
}

autocast_widths widths_under_autocast(const blocks::evidence& of) {
  return reading(of).run();
}

}  // namespace memtrace::advice
