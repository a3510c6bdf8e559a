// SPDX-License-Identifier: Apache-2.0
//
// Why the next batch does not fit, and what would make it: from the trace of the dry run that ran
// out of memory there, by the report's own findings and advice.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace memtrace::fit {

struct held_category {
  std::string name;  // as people call it
  std::uint64_t bytes = 0;
};

// The request that was refused. Bytes.
struct binding {
  std::string phase;  // "backward"; empty: none of training
  std::string place;  // train.py:31 step
  std::uint64_t requested = 0;
  std::uint64_t device_free = 0;
  std::uint64_t unused = 0;         // reserved, and in no block that is in use
  std::uint64_t largest_free = 0;   // block, of what is reserved
  bool fragmented = false;          // that would have been enough in one piece
  std::vector<held_category> held;  // most bytes first
};

// A change with which that request is served.
struct way {
  std::string id;
  std::string title;
  std::string change;
  std::string cost;
  std::string how;  // replayed, measured, estimated
  std::int64_t saves_bytes = 0;
  bool changes_program = false;
  bool changes_results = false;
};

struct explanation {
  std::optional<binding> bound;
  std::vector<way> ways;  // cheapest first: settings, then code, then what changes results
};

// `shortage`: what would be in use at once beyond what there is, 0 where it only does not find a
// place: no change that saves less is told. `most`: ways.
[[nodiscard]] explanation explain(const std::string& folder, std::uint64_t shortage,
                                  std::size_t most = 3);

// "in backward at train.py:31: 512.00 MiB were wanted, 300.00 MiB free; …"
[[nodiscard]] std::string sentence_of(const binding& bound);

}  // namespace memtrace::fit
