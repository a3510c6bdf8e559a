// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/scrub/disguise.h"

#include <algorithm>
#include <array>

namespace memtrace::scrub {

namespace {

constexpr auto known_words = std::to_array<std::string_view>(
    {// PYTORCH_ALLOC_CONF
     "backend", "native", "cudaMallocAsync", "max_split_size_mb", "max_non_split_rounding_mb",
     "garbage_collection_threshold", "roundup_power2_divisions", "expandable_segments",
     "release_lock_on_cudamalloc", "release_lock_on_hipmalloc", "pinned_use_cuda_host_register",
     "pinned_use_hip_host_register", "pinned_num_register_threads", "pinned_use_background_threads",
     "pinned_reserve_segment_size_mb", "graph_capture_record_stream_reuse",
     "per_process_memory_fraction", "throw_on_cudamalloc_oom", "large_segment_size_mb",
     // Yes and no, in the ways that programs write them.
     "True", "False", "true", "false", "TRUE", "FALSE", "on", "off", "ON", "OFF", "yes", "no",
     "YES", "NO",
     // CUDA, NCCL, accelerate, torch.compile
     "LAZY", "EAGER", "DEFAULT", "FASTEST_FIRST", "PCI_BUS_ID", "Ring", "Tree", "CollnetDirect",
     "CollnetChain", "NVLS", "NVLSTree", "PAT", "LL", "LL128", "Simple", "fp16", "bf16", "fp8",
     "inductor", "eager", "aot_eager", "cudagraphs",
     // Stands for a part that is not known.
     "removed"});

[[nodiscard]] bool is_of_word(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || letter == '_';
}

[[nodiscard]] bool is_number(std::string_view text) {
  return text.find_first_not_of("0123456789") == std::string_view::npos;
}

[[nodiscard]] bool is_public(std::string_view word) {
  return is_number(word) || std::ranges::find(known_words, word) != known_words.end();
}

// Between words there is only what settings need.
[[nodiscard]] bool is_public_sign(char letter) {
  return std::string_view(" ,:;.[]>+-^").find(letter) != std::string_view::npos;
}

}  // namespace

std::string scrubbed_settings(std::string_view text) {
  std::string made;
  while (!text.empty()) {
    const auto end = std::ranges::find_if_not(text, is_of_word);
    const auto word = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    if (word.empty()) {
      if (is_public_sign(text.front())) made += text.front();
      text.remove_prefix(1);
      continue;
    }
    made += is_public(word) ? word : std::string_view("removed");
    text.remove_prefix(word.size());
  }
  return made;
}

std::string scrubbed_value(std::string_view text) {
  return scrubbed_settings(text) == text ? std::string(text) : removed;
}

std::string scrubbed_number(std::string_view text) {
  return is_number(text) ? std::string(text) : removed;
}

}  // namespace memtrace::scrub
