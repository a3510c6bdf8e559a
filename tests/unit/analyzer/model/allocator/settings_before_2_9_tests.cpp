// SPDX-License-Identifier: Apache-2.0
//
// From the sources of these versions; no such PyTorch was run.
#include "parsed.h"

namespace memtrace::allocator {

TEST_CASE("before 2.9: more than 20, and other sentences") {
  CHECK(accepted("max_split_size_mb:21", "2.4.1+cu121").max_split_size == 21 * mebibyte);
  CHECK(refused_with("max_split_size_mb:20", "2.4.1+cu121") ==
        "CachingAllocator option max_split_size_mb too small, must be > 20");
  CHECK(refused_with("foo:1", "2.8.0") == "Unrecognized CachingAllocator option: foo");
  CHECK(refused_with("max_split_size_mb", "2.8.0") ==
        "Error parsing CachingAllocator settings, expected :");
  CHECK(refused_with("max_split_size_mb:", "2.8.0") == "Error, expecting max_split_size_mb value");
  CHECK(refused_with("expandable_segments:1", "2.8.0") ==
        "Expected a single True/False argument for expandable_segments");
  CHECK(refused_with("garbage_collection_threshold:1", "2.8.0") ==
        "garbage_collect_threshold too big, set it 0.0~1.0");
  CHECK(refused_with("expandable_segments:True;max_split_size_mb:30", "2.8.0") ==
        "Expected a single True/False argument for expandable_segments");
}

TEST_CASE("before 2.9: separators are asked for") {
  CHECK(refused_with("max_split_size_mb:30:expandable_segments:True", "2.8.0") ==
        "Error parsing CachingAllocator settings, expected ,");
}

TEST_CASE("before 2.9: the rest of a list begins at the last boundary") {
  const auto read = accepted("roundup_power2_divisions:[4:2,>:8]", "2.8.0");
  CHECK(read.roundup_power2_divisions[1] == 2);
  CHECK(read.roundup_power2_divisions[2] == 8);
  CHECK(read.roundup_power2_divisions[3] == 8);
}

TEST_CASE("before 2.9: options that did not exist yet") {
  CHECK(refused_with("expandable_segments:True", "2.0.1") ==
        "Unrecognized CachingAllocator option: expandable_segments");
  CHECK(refused_with("large_segment_size_mb:30", "2.8.0") ==
        "Unrecognized CachingAllocator option: large_segment_size_mb");
}

}  // namespace memtrace::allocator
