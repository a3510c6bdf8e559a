// SPDX-License-Identifier: Apache-2.0
//
// Who held a device's memory at one moment, in words: attribution's composition with its ids
// resolved. Each list of all memory sums to `total` by itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/model/attribution/result.h"
#include "analyzer/trace/code/frames.h"
#include "analyzer/trace/reader/dictionary.h"

namespace memtrace::run {

using attribution::category;
using attribution::evidence;
using attribution::phase;

// Memory of one category by the place in the program that asked for it.
struct call_site {
  std::vector<code::source_frame> frames;  // innermost first; empty: no Python frame was running
  std::string thread;                      // name, where there are no frames
  std::vector<code::source_frame>
      forward;       // of a backward pass: the call whose gradient it computes
  std::string node;  // of a backward pass: the autograd node, MmBackward0
  // A compiler made one kernel of this line and of these: their innermost frames.
  std::vector<code::source_frame> fused_with;
  attribution::category what = attribution::category::unknown;
  attribution::evidence how = attribution::evidence::unknown;  // of most of its bytes
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
  std::uint64_t recomputed = 0;        // of the bytes: by checkpointing, in backward
  std::uint64_t attention_scores = 0;  // of the bytes: quadratic in the sequence
  std::uint64_t sites = 1;  // more: the smallest ones together, without frames, as the last entry
  // Of what was never freed: the frame that keeps it (keeping_lines.h); those before it got it.
  std::size_t keeps_from = 0;
};

struct rule_bytes {
  std::string_view rule;
  std::uint64_t bytes = 0;
};

struct category_row {
  attribution::category what = attribution::category::unknown;
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
  attribution::evidence how = attribution::evidence::unknown;  // of most of its bytes
  attribution::by_evidence<std::uint64_t> evidence_bytes;
  std::vector<rule_bytes> rules;  // most bytes first
  std::uint64_t recomputed = 0;   // of the bytes
  std::uint64_t attention_scores = 0;
  std::uint64_t fp32_under_autocast = 0;
};

// Memory to which the program gave one name with annotate(): the cache of a request, a table.
struct named_memory {
  std::string name;
  attribution::category what = attribution::category::unknown;
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
};

struct block_row {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t born = 0;  // event
  attribution::category what = attribution::category::unknown;
  attribution::evidence how = attribution::evidence::unknown;
  std::string_view rule;
  std::string name;
  std::string detail;
  attribution::phase born_in = attribution::phase::other;
  std::uint32_t module = 0;   // index in memory_view::modules
  std::size_t call_site = 0;  // index in memory_view::sites
};

struct memory_view {
  std::uint64_t event = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t total = 0;
  std::uint64_t unrecorded = 0;  // of the total: allocated before the recording, or lost
  attribution::phase during = attribution::phase::other;
  std::optional<std::uint64_t> step;     // from 0
  std::vector<category_row> categories;  // most bytes first; without unused ones
  std::vector<call_site> sites;          // most bytes first; without what is unrecorded
  std::vector<attribution::module_row> modules;
  std::vector<named_memory> named;  // most bytes first; of the total only what the program named
  std::vector<block_row> blocks;    // where asked for
};

[[nodiscard]] memory_view view_of(const trace::dictionary& names,
                                  const attribution::composition& held);

}  // namespace memtrace::run
