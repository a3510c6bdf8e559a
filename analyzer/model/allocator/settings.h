// SPDX-License-Identifier: Apache-2.0
//
// The options of PyTorch's caching allocator (PYTORCH_CUDA_ALLOC_CONF, PYTORCH_ALLOC_CONF), and
// the constants that differ between its versions. Sizes are bytes.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>

namespace memtrace::allocator {

inline constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();
inline constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

// The least, and the multiple, of every block.
inline constexpr std::uint64_t min_block_size = 512;
// Rounded requests up to this much come from segments of small_buffer.
inline constexpr std::uint64_t small_size = mebibyte;
inline constexpr std::uint64_t small_buffer = 2 * mebibyte;
// Larger ones get a segment of their own, rounded up to round_large.
inline constexpr std::uint64_t min_large_alloc = 10 * mebibyte;
inline constexpr std::uint64_t round_large = 2 * mebibyte;

enum class backend : std::uint8_t { native, cuda_malloc_async };

struct settings {
  allocator::backend backend = allocator::backend::native;
  std::uint64_t max_split_size = unlimited;
  std::uint64_t large_segment_size = 20 * mebibyte;
  std::uint64_t max_non_split_rounding = 20 * mebibyte;  // by default large_segment_size
  double garbage_collection_threshold = 0;               // 0: off
  // Number of divisions between two powers of two, by floor(log2(size in MiB)); 0: rounding to 512.
  std::array<std::uint64_t, 16> roundup_power2_divisions{};
  bool expandable_segments = false;
  double memory_fraction = 1;  // per_process_memory_fraction
  // For pinned host memory.
  bool pinned_use_cuda_host_register = false;
  std::uint64_t pinned_num_register_threads = 1;
  bool pinned_use_background_threads = false;
  std::uint64_t pinned_reserve_segment_size = 0;
  // Without influence on sizes and addresses.
  bool release_lock_on_cudamalloc = false;
  bool graph_capture_record_stream_reuse = false;
  [[nodiscard]] bool operator==(const settings&) const = default;
};

// Why PyTorch refuses a text, in its own words where the recorded version's are known.
struct refusal {
  std::string what;
  settings left;  // in force after it: PyTorch has applied what stands before the fault
};

// The settings that PyTorch of `torch_version` ("2.11.0+cu130"; empty: the newest known) reads in
// `text`. Starts from the defaults: as PyTorch reads the environment at its start.
[[nodiscard]] std::variant<settings, refusal> parse_settings(std::string_view text,
                                                             std::string_view torch_version);

// The same for a change in mid-run (torch.cuda.memory._set_allocator_settings): what the text does
// not name stays, or falls back, as in that version.
[[nodiscard]] std::variant<settings, refusal> change_settings(const settings& now,
                                                              std::string_view text,
                                                              std::string_view torch_version);

// As PyTorch would read it again: only what differs from the defaults; empty for the defaults.
[[nodiscard]] std::string to_text(const settings& chosen);

}  // namespace memtrace::allocator
