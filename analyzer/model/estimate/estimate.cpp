// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/estimate/estimate.h"

#include <fmt/core.h>

#include <algorithm>

#include "analyzer/model/estimate/activations.h"
#include "analyzer/model/estimate/loss.h"

namespace memtrace::estimate {

namespace {

constexpr double mebibyte = 1 << 20;
// :4096:2:16:8 in KiB, for the thread that runs forward and for autograd's.
constexpr double workspace_bytes = 2 * (2 * 4096 + 8 * 16) * 1024.0;
// Context, modules and libraries of a process: nvidia-smi shows 300 to 600 MiB, by GPU and version.
constexpr double context_bytes = 450 * mebibyte;
// A QLoRA weight: 4 bits, and 0.127 bits of scales of scales.
constexpr double quantized_bytes = (4 + 0.127) / 8;

// Elements: 1,234, 60.5 M, 3.7 B.
[[nodiscard]] std::string count(double number) {
  if (number >= 1e9) return fmt::format("{:.3g} B", number / 1e9);
  if (number >= 1e6) return fmt::format("{:.4g} M", number / 1e6);
  if (number >= 1e5) return fmt::format("{:.4g} k", number / 1e3);
  return fmt::format("{:.0f}", number);
}

[[nodiscard]] double adapter_elements(const plan& wanted) {
  if (wanted.lora.rank == 0 || !wanted.shape) return 0;
  double sum = 0;
  for (const auto& layer : linear_layers(*wanted.shape)) {
    const bool chosen = wanted.lora.where == adapted::all_linear ||
                        (wanted.lora.where == adapted::attention && layer.attention) ||
                        layer.query_or_value;
    if (!chosen) continue;
    sum += static_cast<double>(wanted.lora.rank * (layer.in + layer.out) * layer.times);
  }
  return sum;
}

[[nodiscard]] trained_part trained_part_of(const adapters& lora) {
  if (lora.rank == 0) return trained_part::everything;
  return lora.where == adapted::all_linear ? trained_part::adapters_in_all
                                           : trained_part::adapters_in_attention;
}

class maker {
 public:
  explicit maker(const plan& wanted)
      : wanted_(wanted), each_(bytes_of(wanted.how)), over_(static_cast<double>(wanted.devices)) {
    if (wanted.shape) counted_ = count_parameters(*wanted.shape);
    base_ = static_cast<double>(wanted.parameters != 0 ? wanted.parameters : counted_.total);
    adapters_ = adapter_elements(wanted);
    trained_ = wanted.lora.rank != 0 ? adapters_ : base_;
    // A model whose shape is not known: its matrices are taken for all of it.
    linear_ = wanted.shape ? std::min(static_cast<double>(counted_.linear), base_) : base_;
  }

  [[nodiscard]] estimation make() {
    weights();
    gradients();
    states();
    if (wanted_.shape && wanted_.sequence != 0) {
      activations_kept();
      if (wanted_.logits && wanted_.shape->vocabulary != 0) logits();
    }
    outside_of_the_model();
    made_.parameters = static_cast<std::uint64_t>(base_ + adapters_);
    made_.trained = static_cast<std::uint64_t>(trained_);
    for (const auto& one : made_.terms) {
      if ((one.when & backward_begins) != 0) made_.begin += one.bytes;
      if ((one.when & backward_ends) != 0) made_.end += one.bytes;
      if ((one.when & optimizer_steps) != 0) made_.step += one.bytes;
    }
    return std::move(made_);
  }

 private:
  void add(term what) {
    if (what.bytes > 0) made_.terms.push_back(std::move(what));
  }
  // " / 8" where it is divided among devices.
  [[nodiscard]] std::string among(bool divided) const {
    return divided && wanted_.devices > 1 ? fmt::format(" / {} devices", wanted_.devices) : "";
  }
  [[nodiscard]] double share(bool divided) const { return divided ? over_ : 1; }
  [[nodiscard]] source or_sharded(bool divided, source otherwise) const {
    return divided ? source::zero : otherwise;
  }

  void weights();
  void quantized_weights();
  void gradients();
  void states();
  void activations_kept();
  struct loss_terms {
    std::uint64_t tokens = 0;
    loss_share each;
    double output = 0;  // elements of the output layer that are trained
    double with_gradients = 0;
    double in_output_layer = 0;
    [[nodiscard]] double peak() const { return std::max(with_gradients, in_output_layer); }
  };
  [[nodiscard]] loss_terms loss() const;
  void logits();
  void outside_of_the_model();

  const plan& wanted_;
  const bytes_each& each_;
  double over_;
  parameter_count counted_;
  double base_ = 0;
  double adapters_ = 0;
  double trained_ = 0;
  double linear_ = 0;
  double recomputed_ = 0;
  estimation made_;
};

void maker::quantized_weights() {
  // Embedding, norms and the output layer stay; PEFT's preparation makes them 32 bits wide.
  const auto blocks = linear_ - static_cast<double>(counted_.output);
  add({"quantized_weights", "weights in 4 bits", blocks * quantized_bytes, always,
       fmt::format("{} × 4.127 bits", count(blocks)), source::qlora});
  add({"weights", "other weights", (base_ - blocks) * 4, always,
       fmt::format("{} × 4 B", count(base_ - blocks)), source::qlora});
}

void maker::weights() {
  const bool sharded = wanted_.shard == sharding::zero3;
  if (wanted_.lora.quantized) {
    quantized_weights();
  } else {
    add({"weights", "weights", base_ * each_.weight / share(sharded), always,
         fmt::format("{} × {} B{}", count(base_), each_.weight, among(sharded)),
         or_sharded(sharded, source::arithmetic)});
  }
  if (adapters_ > 0) {
    // PEFT keeps adapters in 32 bits beside weights in 16 (autocast_adapter_dtype).
    add({"adapters", "adapters", adapters_ * 4, always, fmt::format("{} × 4 B", count(adapters_)),
         source::lora});
  }
  if (each_.cast != 0 && !wanted_.lora.quantized) {
    add({"weight_casts", "autocast's copies of weights", linear_ * each_.cast / share(sharded),
         backward_begins, fmt::format("{} × {} B{}", count(linear_), each_.cast, among(sharded)),
         source::torch_amp});
  }
  if (sharded && wanted_.devices > 1) {
    const auto largest = wanted_.shape ? static_cast<double>(counted_.largest_layer) : 0;
    add({"gathered", "gathered layers", 2 * largest * each_.weight, backward_begins,
         fmt::format("2 × {} of the largest layer × {} B", count(largest), each_.weight),
         source::fsdp});
  }
}

void maker::gradients() {
  const bool sharded = wanted_.shard == sharding::zero2 || wanted_.shard == sharding::zero3;
  const double each = adapters_ > 0 ? 4 : each_.gradient;
  const auto when = wanted_.accumulates ? always : std::uint8_t{backward_ends | optimizer_steps};
  add({"gradients", "gradients", trained_ * each / share(sharded), when,
       fmt::format("{} × {} B{}", count(trained_), each, among(sharded)),
       or_sharded(sharded, source::arithmetic)});
  const bool tied = wanted_.shape && wanted_.shape->tied && wanted_.logits && adapters_ == 0;
  if (!tied || counted_.output == 0) return;
  // The embedding's and the output layer's, and their sum; one of them is counted above.
  add({"tied_gradients", "gradients of tied weights, added up",
       2 * static_cast<double>(counted_.output) * each, backward_ends,
       fmt::format("2 × {} × {} B", count(static_cast<double>(counted_.output)), each),
       source::tied});
}

void maker::states() {
  const bool sharded = wanted_.shard != sharding::none;
  const auto& optimizer = *wanted_.optimizer;
  const bool adapting = adapters_ > 0;
  const double element = adapting ? 4 : each_.state;
  if (each_.master != 0 && !adapting) {
    add({"master_weights", "32-bit copy of the weights", trained_ * each_.master / share(sharded),
         always, fmt::format("{} × {} B{}", count(trained_), each_.master, among(sharded)),
         source::zero});
  }
  // Without a shape: of square matrices as wide as a large model's layers.
  constexpr double width = 4096;
  const auto factors = wanted_.shape && !adapting ? static_cast<double>(counted_.rows_and_columns)
                                                  : 2 * trained_ / width;
  const auto bytes = state_bytes(optimizer, trained_, element, factors);
  std::string formula;
  switch (optimizer.kind) {
    case state_kind::full:
      formula = fmt::format("{} × {} × {} B{}", count(trained_), optimizer.tensors, element,
                            among(sharded));
      break;
    case state_kind::quantized:
      formula = fmt::format("{} × {} × (1 + 4 / 256) B{}", count(trained_), optimizer.tensors,
                            among(sharded));
      break;
    case state_kind::factored:
      formula = fmt::format("{} rows and columns × 4 B{}", count(factors), among(sharded));
      break;
  }
  add({"optimizer_states", "optimizer states", bytes / share(sharded), always, formula,
       optimizer.from});
  add({"optimizer_temporaries", "the step's temporaries",
       optimizer.temporaries * trained_ * element / share(sharded), optimizer_steps,
       fmt::format("{} × {} B{}", count(trained_), element, among(sharded)),
       source::torch_foreach});
}

void maker::activations_kept() {
  const auto& shape = *wanted_.shape;
  const auto tokens = static_cast<double>(wanted_.sequence);
  const auto decoded =
      wanted_.decoder_sequence == 0 ? tokens : static_cast<double>(wanted_.decoder_sequence);
  const auto kept =
      activations(shape, {static_cast<double>(wanted_.batch), tokens, decoded}, wanted_.how,
                  wanted_.fused_attention, trained_part_of(wanted_.lora));
  const auto from = shape.like == family::generic ? source::megatron : source::transformers;
  const auto b = wanted_.batch;
  const auto layers = shape.layers + shape.decoder_layers;
  if (wanted_.checkpointing) {
    add({"activations", "inputs of checkpointed layers", kept.inputs_of_layers, backward_begins,
         fmt::format("{} layers × {} × {} tokens × {}", layers, b, wanted_.sequence, shape.hidden),
         source::megatron});
    // The logits' gradients are gone when the last layer is computed again.
    recomputed_ = kept.largest_layer;
    const bool higher = recomputed_ > loss().peak();
    add({"recomputed", "one layer computed again", recomputed_, higher ? backward_begins : never,
         fmt::format("all that a layer keeps, {} × {} tokens", b, wanted_.sequence), from});
  } else {
    const auto per_token = kept.layers / static_cast<double>(layers) /
                           (static_cast<double>(b) * tokens * static_cast<double>(shape.hidden));
    add({"activations", "activations of the layers", kept.layers, backward_begins,
         fmt::format("{} layers × {} × {} tokens × {} × {:.1f} B", layers, b, wanted_.sequence,
                     shape.hidden, per_token),
         from});
    add({"attention_scores", "attention scores", kept.scores, backward_begins,
         fmt::format(
             "{} layers × {} × {} heads × {}² × {:.1f} B", layers, b, shape.heads, wanted_.sequence,
             kept.scores / (static_cast<double>(layers * b * shape.heads) * tokens * tokens)),
         from});
  }
  add({"ends", "activations outside of layers", kept.ends, backward_begins,
       fmt::format(
           "{} × {} tokens × {} × {:.1f} B", b, wanted_.sequence, shape.hidden,
           kept.ends / (static_cast<double>(b) * tokens * static_cast<double>(shape.hidden))),
       from});
}

maker::loss_terms maker::loss() const {
  loss_terms found;
  if (!wanted_.logits || !wanted_.shape || wanted_.shape->vocabulary == 0) return found;
  const auto& shape = *wanted_.shape;
  found.tokens = wanted_.decoder_sequence != 0 && shape.decoder_layers != 0
                     ? wanted_.decoder_sequence
                     : wanted_.sequence;
  const auto elements = static_cast<double>(wanted_.batch) * static_cast<double>(found.tokens) *
                        static_cast<double>(shape.vocabulary);
  found.each = loss_bytes(shape.like, wanted_.how);
  found.with_gradients = (found.each.log_probabilities + found.each.gradients) * elements;
  // Then the logits' gradient is there with that of the output layer, made first of all.
  found.output = adapters_ > 0 ? 0.0 : static_cast<double>(counted_.output);
  found.in_output_layer = found.each.gradients / 2.0 * elements + found.output * each_.gradient;
  return found;
}

void maker::logits() {
  const auto found = loss();
  const auto words = wanted_.shape->vocabulary;
  const bool by_layer = found.in_output_layer > found.with_gradients;
  add({"logits", "loss over the vocabulary", found.peak(),
       recomputed_ > found.peak() ? never : backward_begins,
       by_layer ? fmt::format("{} × {} tokens × {} × {} B + {} × {} B", wanted_.batch, found.tokens,
                              words, found.each.gradients / 2, count(found.output), each_.gradient)
                : fmt::format("{} × {} tokens × {} × {} B", wanted_.batch, found.tokens, words,
                              found.each.log_probabilities + found.each.gradients),
       source::logits});
}

void maker::outside_of_the_model() {
  add({"workspace", "workspaces of cuBLAS", workspace_bytes, always, "2 × 8,320 KiB",
       source::workspaces});
  add({"context", "CUDA context, outside of PyTorch", context_bytes, always, "about 450 MiB",
       source::context});
  made_.outside = context_bytes;
}

}  // namespace

estimation make_estimate(const plan& wanted) {
  return maker(wanted).make();
}

double peak_at(plan wanted, std::uint64_t batch) {
  wanted.batch = batch;
  return make_estimate(wanted).peak();
}

}  // namespace memtrace::estimate
