// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/advice/piece.h"

#include <algorithm>
#include <iterator>

namespace memtrace::advice {

namespace {

// Pieces of advice and remedies of growth.
struct named {
  std::string_view id;
  std::string_view words;
};

constexpr named all[] = {
    {"add_empty_cache", "empty_cache() where it helps"},
    {"alloc_options", "other settings of the allocator"},
    {"attention_fallback", "a fused kernel for attention"},
    {"attention_kernel", "scaled_dot_product_attention"},
    {"bucketing", "lengths rounded up to a few"},
    {"call_batch", "a smaller batch"},
    {"checkpointing", "activation checkpointing"},
    {"chunked_loss", "chunked cross-entropy"},
    {"collected_batches", "use each batch where it is made, or keep it on the CPU"},
    {"collected_results", "keep `x.cpu()` of each result that the GPU does not need again"},
    {"convert_before_move", "convert the weights before they are moved"},
    {"copies_of_model", "keep copies of weights on the CPU"},
    {"create_graph_cycle", "set `.grad` to None after each step"},
    {"default_options", "the allocator's default settings"},
    {"epoch_outputs", "return `x.detach().cpu()` from the steps"},
    {"discarded_gradients", "`no_grad()` around the call whose gradients are given up"},
    {"eval_accumulation_steps", "eval_accumulation_steps=1 in TrainingArguments"},
    {"evaluation_batch", "a smaller batch in evaluation"},
    {"evaluation_outputs", "`.cpu()` of each result of evaluation"},
    {"evaluation_results", "keep `x.cpu()` of each result that the GPU does not need again"},
    {"evaluation_without_gradients", "`no_grad()` where no backward pass follows"},
    {"exception_frames", "leave the `except` block before trying again"},
    {"expandable_segments", "expandable segments"},
    {"expandable_segments_off", "segments of fixed size"},
    {"free_earlier", "`del` what is not used again"},
    {"garbage_collection", "unused cached memory given back early"},
    {"gradient_as_bucket_view", "gradients that share DDP's buckets"},
    {"graph_of_gradients", "no `create_graph=True` where nothing differentiates through it"},
    {"growing_graph", "`detach()` what is kept"},
    {"growing_host", "write out or bound what each step adds"},
    {"growing_model", "add layers once"},
    {"growing_outside", "make once what each step loads or compiles"},
    {"growing_pinned", "one pinned buffer, used again"},
    {"growing_reserved", "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"},
    {"unused_graphs", "`torch.no_grad()` around it"},
    {"growing_sum", "`detach()` it in each step"},
    {"growing_tensor", "allocate it once"},
    {"growing_workers", "bound what the data set keeps"},
    {"hook_keeps", "`handle.remove()`"},
    {"idle_models", "`.cpu()` on models that wait"},
    {"kept_error", "keep `str(error)`, not the error"},
    {"kept_somewhere", "`del` it when its step is done"},
    {"kept_view", "keep a `clone()` of the part"},
    {"kept_views", "`clone()` of the parts that are kept"},
    {"kept_with_graph", "keep `x.detach()`, or compute it under `no_grad()`"},
    {"large_segment_size", "another size of segments"},
    {"loaded_checkpoint", "`map_location=\"cpu\"` in torch.load"},
    {"lora", "LoRA adapters"},
    {"max_split_size", "large blocks kept whole"},
    {"memory_fraction", "a larger memory fraction"},
    {"metric_state", "`reset()` of the metric"},
    {"micro_batch_half", "micro-batches of half the size"},
    {"micro_batch_quarter", "micro-batches of a quarter of the size"},
    {"mixed_precision", "mixed precision"},
    {"never_read", "do not keep what no line reads"},
    {"numbers_as_tensors", "keep `x.item()`"},
    {"optimizer_8bit", "8-bit optimizer states (bitsandbytes)"},
    {"optimizer_adafactor", "Adafactor instead of Adam"},
    {"optimizer_again", "`del` old optimizers, or make one"},
    {"optimizer_foreach", "`foreach=False` in the optimizer"},
    {"optimizer_fused", "`fused=True` in the optimizer"},
    {"optimizer_sgd", "SGD instead of Adam"},
    {"pinned_memory", "less pinned memory"},
    {"pure_bf16", "everything in 16 bits"},
    {"recurrent_state", "`detach()` of the state between chunks"},
    {"reference_cycle", "break the cycle of references"},
    {"remove_empty_cache", "no useless empty_cache()"},
    {"results_for_host", "keep `x.cpu()` of each result"},
    {"results_read_again", "keep `x.cpu()` of each result, `.cuda()` where it is read"},
    {"results_with_graph", "keep `x.detach().cpu()`"},
    {"roundup_power2", "requests rounded up to shared sizes"},
    {"separate_backward", "backward() for each forward pass"},
    {"sequence_length", "sequences of half the length"},
    {"set_to_none", "`zero_grad(set_to_none=True)`"},
    {"state_copies", "copies of parameters on the CPU"},
    {"train_batch_half", "half the batch, gradient accumulation 2×"},
    {"train_batch_quarter", "a quarter of the batch, gradient accumulation 4×"},
    {"unbounded_cache", "give it a bound"},
    {"unbounded_deque", "deque(maxlen=…)"},
    {"unbounded_queue", "Queue(maxsize=…)"},
    {"untrained_call", "the model that is not trained in parts, or first"},
    {"unused_parameters", "modules that never run kept off the GPU"},
    {"unread_variable", "give up what is not read again"},
    {"untrained_gradients", "requires_grad_(False) of the model that no optimizer has"},
    {"weights_copy", "keep the copy of the weights on the CPU"},
    {"workers", "fewer DataLoader workers"},
    {"zero_grad_placement", "`zero_grad()` right after the step"},
};

[[nodiscard]] const named* find(std::string_view id) {
  const auto* const found = std::ranges::find(all, id, &named::id);
  return found == std::end(all) ? nullptr : found;
}

}  // namespace

std::string brief_words(std::string_view id) {
  if (const auto* const found = find(id)) return std::string(found->words);
  std::string words(id);
  std::ranges::replace(words, '_', ' ');
  return words;
}

bool has_brief_words(std::string_view id) {
  return find(id) != nullptr;
}

}  // namespace memtrace::advice
