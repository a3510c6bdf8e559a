// SPDX-License-Identifier: Apache-2.0
//
// Expected values and sentences are those of PyTorch 2.11.0+cu130, as it gave them when asked;
// tests/answers/allocator/test_settings.py asks it again, about more.
#include "parsed.h"

namespace memtrace::allocator {

TEST_CASE("nothing set: the defaults") {
  CHECK(accepted("") == settings());
  CHECK(settings().max_split_size == unlimited);
}

TEST_CASE("sizes in mebibytes, others as they are") {
  const auto read = accepted(
      "max_split_size_mb:100, garbage_collection_threshold:0.8,expandable_segments:True,"
      "pinned_num_register_threads:8,per_process_memory_fraction:0.25,"
      "pinned_reserve_segment_size_mb:7,release_lock_on_cudamalloc:True");
  CHECK(read.max_split_size == 100 * mebibyte);
  CHECK(read.garbage_collection_threshold == 0.8);
  CHECK(read.expandable_segments);
  CHECK(read.pinned_num_register_threads == 8);
  CHECK(read.memory_fraction == 0.25);
  CHECK(read.pinned_reserve_segment_size == 7 * mebibyte);
  CHECK(read.release_lock_on_cudamalloc);
}

TEST_CASE("the size of segments is read first, wherever it stands, and bounds others") {
  const auto read = accepted("max_split_size_mb:48,large_segment_size_mb:32");
  CHECK(read.large_segment_size == 32 * mebibyte);
  CHECK(read.max_split_size == 48 * mebibyte);
  CHECK(read.max_non_split_rounding == 32 * mebibyte);
  CHECK(refused_with("max_split_size_mb:20,large_segment_size_mb:40") ==
        "CachingAllocator option max_split_size_mb too small, must be >= 40");
  CHECK(refused_with("large_segment_size_mb:10") ==
        "CachingAllocator option large_segment_size_mb must be > 10 MB");
}

TEST_CASE("roundup_power2_divisions: one number, or by size") {
  using divisions = decltype(settings::roundup_power2_divisions);
  divisions all;
  all.fill(4);
  CHECK(accepted("roundup_power2_divisions:4").roundup_power2_divisions == all);
  CHECK(accepted("roundup_power2_divisions:[8:2,4:16,>:4]").roundup_power2_divisions ==
        divisions{2, 2, 16, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4});
  CHECK(accepted("roundup_power2_divisions:[>:4]").roundup_power2_divisions ==
        divisions{0, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4});
  CHECK(refused_with("roundup_power2_divisions:3") ==
        "For roundups, the divisions has to be power of 2 ");
  CHECK(refused_with("roundup_power2_divisions:[256:3]") ==
        "For roundups, the divisions has to be power of 2 or 0 to disable roundup ");
  CHECK(refused_with("roundup_power2_divisions:[255:4]") ==
        "For roundups, the intervals have to be power of 2 ");
}

TEST_CASE("what is refused, in PyTorch's words") {
  CHECK(refused_with("foo:1") == "Unrecognized key 'foo' in CUDA allocator config.");
  CHECK(refused_with("max_split_size_mb:19") ==
        "CachingAllocator option max_split_size_mb too small, must be >= 20");
  CHECK(refused_with("max_split_size_mb:abc") == "stoull");
  CHECK(refused_with("garbage_collection_threshold:1.0") ==
        "garbage_collect_threshold is invalid, set it in (0.0, 1.0)");
  CHECK(refused_with("expandable_segments:true") ==
        "Expected 'True' or 'False' at index 2 in ConfigTokenizer but got 'true'");
  CHECK(refused_with("per_process_memory_fraction:1.5") ==
        "per_process_memory_fraction is invalid, set it in [0.0, 1.0]");
  CHECK(refused_with("backend:foo") ==
        "Unknown allocator backend, options are native and cudaMallocAsync");
  CHECK(refused_with("max_split_size_mb") ==
        "i < config_.size() INTERNAL ASSERT FAILED at \"/pytorch/c10/core/AllocatorConfig.h\":124, "
        "please report a bug to PyTorch. Index out of bounds in ConfigTokenizer");
  CHECK(refused_with("max_split_size_mb", "2.10.0") == "Index out of bounds in ConfigTokenizer");
}

TEST_CASE("a change in mid-run: some options stay, some fall back") {
  const auto before = accepted(
      "expandable_segments:True,max_split_size_mb:64,large_segment_size_mb:32,"
      "max_non_split_rounding_mb:60,per_process_memory_fraction:0.5");
  const auto after = changed(before, "garbage_collection_threshold:0.5");
  CHECK(after.expandable_segments);
  CHECK(after.large_segment_size == 32 * mebibyte);
  CHECK(after.memory_fraction == 0.5);
  CHECK(after.max_split_size == unlimited);
  CHECK(after.max_non_split_rounding == 32 * mebibyte);
  CHECK(after.garbage_collection_threshold == 0.5);
  CHECK(changed(after, "").garbage_collection_threshold == 0);
}

TEST_CASE("a refused change leaves what stood before its fault") {
  const auto read =
      change_settings(settings(), "max_split_size_mb:99,garbage_collection_threshold:2", "2.11.0");
  REQUIRE(std::holds_alternative<refusal>(read));
  CHECK(std::get<refusal>(read).left.max_split_size == 99 * mebibyte);
}

TEST_CASE("the backend is chosen when PyTorch is loaded, and not changed") {
  CHECK(accepted("backend:cudaMallocAsync").backend == backend::cuda_malloc_async);
  const auto read = change_settings(settings(), "backend:cudaMallocAsync", "2.11.0");
  REQUIRE(std::holds_alternative<refusal>(read));
  CHECK(std::get<refusal>(read).what.ends_with(
      "Allocator backend parsed at runtime != allocator backend parsed at load time, "
      "cudaMallocAsync != native"));
}

}  // namespace memtrace::allocator
