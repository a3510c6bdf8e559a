// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyzer/model/allocator/settings.h"
#include "analyzer/model/allocator/settings_tokens.h"

namespace memtrace::allocator {

namespace {

using divisions_type = decltype(settings::roundup_power2_divisions);

// One number where it is the same for all sizes and no zero, which PyTorch takes in lists only.
[[nodiscard]] std::string divisions_text(const divisions_type& divisions) {
  const auto first = divisions.front();
  std::string list;
  bool same = true;
  for (std::size_t i = 0; i < divisions.size(); ++i) {
    same = same && divisions[i] == first;
    list += fmt::format("{}{}:{}", i == 0 ? "" : ",", std::uint64_t{1} << i, divisions[i]);
  }
  return same ? fmt::format("{}", first) : "[" + list + "]";
}

class option_list {
 public:
  void add(std::string_view key, std::string_view value) {
    text_ += fmt::format("{}{}:{}", text_.empty() ? "" : ",", key, value);
  }
  void mebibytes(std::string_view key, std::uint64_t bytes) {
    add(key, fmt::format("{}", bytes / mebibyte));
  }
  void flag(std::string_view key, bool now, bool before) {
    if (now != before) add(key, now ? "True" : "False");
  }
  [[nodiscard]] std::string text() && { return std::move(text_); }

 private:
  std::string text_;
};

void add_pinned_options(const settings& chosen, const settings& usual, option_list& to) {
  to.flag("pinned_use_cuda_host_register", chosen.pinned_use_cuda_host_register,
          usual.pinned_use_cuda_host_register);
  if (chosen.pinned_num_register_threads != usual.pinned_num_register_threads) {
    to.add("pinned_num_register_threads", fmt::format("{}", chosen.pinned_num_register_threads));
  }
  to.flag("pinned_use_background_threads", chosen.pinned_use_background_threads,
          usual.pinned_use_background_threads);
  if (chosen.pinned_reserve_segment_size != usual.pinned_reserve_segment_size) {
    to.mebibytes("pinned_reserve_segment_size_mb", chosen.pinned_reserve_segment_size);
  }
}

}  // namespace

std::string to_text(const settings& chosen) {
  const settings usual;
  option_list to;
  if (chosen.backend != usual.backend) to.add("backend", "cudaMallocAsync");
  to.flag("expandable_segments", chosen.expandable_segments, usual.expandable_segments);
  if (chosen.large_segment_size != usual.large_segment_size) {
    to.mebibytes("large_segment_size_mb", chosen.large_segment_size);
  }
  if (chosen.max_split_size != usual.max_split_size) {
    to.mebibytes("max_split_size_mb", chosen.max_split_size);
  }
  if (chosen.max_non_split_rounding != chosen.large_segment_size) {
    to.mebibytes("max_non_split_rounding_mb", chosen.max_non_split_rounding);
  }
  if (chosen.garbage_collection_threshold != usual.garbage_collection_threshold) {
    to.add("garbage_collection_threshold", fmt::format("{}", chosen.garbage_collection_threshold));
  }
  if (chosen.roundup_power2_divisions != usual.roundup_power2_divisions) {
    to.add("roundup_power2_divisions", divisions_text(chosen.roundup_power2_divisions));
  }
  if (chosen.memory_fraction != usual.memory_fraction) {
    to.add("per_process_memory_fraction", fmt::format("{}", chosen.memory_fraction));
  }
  add_pinned_options(chosen, usual, to);
  to.flag("release_lock_on_cudamalloc", chosen.release_lock_on_cudamalloc,
          usual.release_lock_on_cudamalloc);
  to.flag("graph_capture_record_stream_reuse", chosen.graph_capture_record_stream_reuse,
          usual.graph_capture_record_stream_reuse);
  return std::move(to).text();
}

}  // namespace memtrace::allocator
