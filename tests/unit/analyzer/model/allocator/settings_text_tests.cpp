// SPDX-License-Identifier: Apache-2.0
#include "parsed.h"

namespace memtrace::allocator {

TEST_CASE("defaults need no text") {
  CHECK(to_text(settings()).empty());
}

TEST_CASE("what is written is read again as it was") {
  const auto* const text = GENERATE(
      "expandable_segments:True", "max_split_size_mb:100", "large_segment_size_mb:32",
      "large_segment_size_mb:32,max_non_split_rounding_mb:50", "garbage_collection_threshold:0.6",
      "roundup_power2_divisions:4", "roundup_power2_divisions:[256:1,512:2,1024:4,>:8]",
      "roundup_power2_divisions:[1:0,2:4]", "per_process_memory_fraction:0.333333333333",
      "backend:cudaMallocAsync", "pinned_use_cuda_host_register:True,pinned_num_register_threads:4",
      "pinned_use_background_threads:True,pinned_reserve_segment_size_mb:64",
      "release_lock_on_cudamalloc:True,graph_capture_record_stream_reuse:True");
  const auto read = accepted(text);
  CHECK(read != settings());
  CHECK(accepted(to_text(read)) == read);
}

TEST_CASE("one option is written as people write it") {
  CHECK(to_text(accepted("expandable_segments:True")) == "expandable_segments:True");
  CHECK(to_text(accepted("max_split_size_mb:128, garbage_collection_threshold:0.8")) ==
        "max_split_size_mb:128,garbage_collection_threshold:0.8");
  CHECK(to_text(accepted("roundup_power2_divisions:8")) == "roundup_power2_divisions:8");
}

}  // namespace memtrace::allocator
