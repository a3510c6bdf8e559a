// SPDX-License-Identifier: Apache-2.0
//
// The words of a snapshot that mean something here: keys of its dictionaries, and names of what the
// allocator did. Texts are numbered as they come; these come first, so that a key is a number.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace memtrace::snapshot {

// clang-format off
#define MEMTRACE_SNAPSHOT_KEYS(X) \
  X(action) X(addr) X(address) X(size) X(stream) X(time_us) X(frames) X(device_free) X(pool_id) \
  X(user_metadata) X(name) X(filename) X(line) X(requested_size) X(state) X(total_size) \
  X(device) X(segment_type) X(segment_pool_id) X(is_expandable) X(blocks) X(stage) X(segments) \
  X(device_traces) X(allocator_settings) X(external_annotations) X(PYTORCH_CUDA_ALLOC_CONF) \
  X(max_split_size) X(garbage_collection_threshold) X(expandable_segments) \
  X(roundup_power2_divisions) X(alloc) X(free_requested) X(free_completed) X(segment_alloc) \
  X(segment_free) X(segment_map) X(segment_unmap) X(oom) X(snapshot) X(inactive) \
  X(active_allocated) X(small) X(START) X(END) X(category) X(unknown)
// clang-format on

enum class key : std::uint32_t {
  none,
#define MEMTRACE_KEY(name) name,
  MEMTRACE_SNAPSHOT_KEYS(MEMTRACE_KEY)
#undef MEMTRACE_KEY
};

inline constexpr std::array key_words = {
#define MEMTRACE_KEY(name) std::string_view(#name),
    MEMTRACE_SNAPSHOT_KEYS(MEMTRACE_KEY)
#undef MEMTRACE_KEY
};

}  // namespace memtrace::snapshot
