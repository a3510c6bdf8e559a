// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/advice/piece.h"

#include <algorithm>
#include <iterator>

namespace memtrace::advice {

namespace {

struct named {
  std::string_view id;
  std::string_view words;
};

constexpr named all[] = {
    {"add_empty_cache", "empty_cache() where it helps"},
    {"alloc_options", "other settings of the allocator"},
    {"bucketing", "lengths rounded up to a few"},
    {"checkpointing", "checkpointing"},
    {"default_options", "the allocator's default settings"},
    {"evaluation_batch", "a smaller batch in evaluation"},
    {"evaluation_outputs", "evaluation outputs moved to the CPU"},
    {"evaluation_without_gradients", "evaluation without gradients"},
    {"expandable_segments", "expandable segments"},
    {"expandable_segments_off", "segments of fixed size"},
    {"free_earlier", "results freed after their last use"},
    {"garbage_collection", "unused cached memory given back early"},
    {"gradient_as_bucket_view", "gradients that share DDP's buckets"},
    {"large_segment_size", "another size of segments"},
    {"lora", "LoRA adapters"},
    {"max_split_size", "large blocks kept whole"},
    {"memory_fraction", "a larger memory fraction"},
    {"mixed_precision", "mixed precision"},
    {"optimizer_8bit", "8-bit optimizer states"},
    {"optimizer_adafactor", "Adafactor instead of Adam"},
    {"optimizer_foreach", "an optimizer without foreach"},
    {"optimizer_fused", "a fused optimizer"},
    {"optimizer_sgd", "SGD instead of Adam"},
    {"pinned_memory", "less pinned memory"},
    {"pure_bf16", "everything in bfloat16"},
    {"remove_empty_cache", "no useless empty_cache()"},
    {"roundup_power2", "requests rounded up to shared sizes"},
    {"sequence_length", "sequences of half the length"},
    {"set_to_none", "gradients set to None"},
    {"train_batch_half", "micro-batches of half the size"},
    {"train_batch_quarter", "micro-batches of a quarter of the size"},
    {"unused_parameters", "modules that never run kept off the GPU"},
    {"weights_copy", "the unused copy of the weights on the host"},
    {"workers", "fewer DataLoader workers"},
    {"zero_grad_placement", "gradients freed right after the step"},
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
