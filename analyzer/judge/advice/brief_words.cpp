// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/advice/piece.h"

#include <algorithm>
#include <iterator>

namespace memtrace::advice {

namespace {

struct named {
  std::string_view id;
  std::string_view words;
  bool is_free = false;
};

constexpr named all[] = {
    {"add_empty_cache", "empty_cache() where it helps"},
    {"alloc_options", "other settings of the allocator", true},
    {"bucketing", "lengths rounded up to a few"},
    {"checkpointing", "checkpointing"},
    {"default_options", "the allocator's default settings", true},
    {"evaluation_batch", "a smaller batch in evaluation"},
    {"evaluation_outputs", "evaluation outputs moved to the CPU"},
    {"evaluation_without_gradients", "evaluation without gradients", true},
    {"expandable_segments", "expandable segments", true},
    {"expandable_segments_off", "segments of fixed size", true},
    {"free_earlier", "results freed after their last use", true},
    {"garbage_collection", "unused cached memory given back early", true},
    {"gradient_as_bucket_view", "gradients that share DDP's buckets", true},
    {"large_segment_size", "another size of segments", true},
    {"lora", "LoRA adapters"},
    {"max_split_size", "large blocks kept whole", true},
    {"memory_fraction", "a larger memory fraction", true},
    {"mixed_precision", "mixed precision"},
    {"optimizer_8bit", "8-bit optimizer states"},
    {"optimizer_adafactor", "Adafactor instead of Adam"},
    {"optimizer_foreach", "an optimizer without foreach"},
    {"optimizer_fused", "a fused optimizer", true},
    {"optimizer_sgd", "SGD instead of Adam"},
    {"pinned_memory", "less pinned memory"},
    {"pure_bf16", "everything in bfloat16"},
    {"remove_empty_cache", "no useless empty_cache()", true},
    {"roundup_power2", "requests rounded up to shared sizes", true},
    {"sequence_length", "sequences of half the length"},
    {"set_to_none", "gradients set to None", true},
    {"train_batch_half", "micro-batches of half the size"},
    {"train_batch_quarter", "micro-batches of a quarter of the size"},
    {"unused_parameters", "modules that never run kept off the GPU", true},
    {"weights_copy", "the unused copy of the weights on the host", true},
    {"workers", "fewer DataLoader workers"},
    {"zero_grad_placement", "gradients freed right after the step", true},
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

bool is_free(std::string_view id) {
  const auto* const found = find(id);
  return found != nullptr && found->is_free;
}

bool has_brief_words(std::string_view id) {
  return find(id) != nullptr;
}

}  // namespace memtrace::advice
