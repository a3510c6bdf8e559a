// SPDX-License-Identifier: Apache-2.0
//
// The processes of a run as ranks: who they are, what each used, which one is not like the others
// and why, and what they share. Sizes are bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/text/enum_name.h"
#include "analyzer/run/model/model.h"

namespace memtrace::ranks {

struct rank_row {
  const run::process_report* process = nullptr;
  const run::device_report* device = nullptr;  // that it uses most; null: none
  // A rank that was started again has several processes: 0 is the first of them.
  std::size_t attempt = 0;
  std::uint64_t steps = 0;  // optimizer steps; 0: not known
  double growth = 0;        // bytes a step, where its memory accumulates
  bool out_of_memory = false;
};

// The figures by which ranks are compared.
enum class rank_measure : std::uint8_t {
  peak_allocated,
  peak_reserved,
  outside,  // of PyTorch's pool, on its device
  host,     // memory of the process that the kernel cannot drop
  growth,
  steps,
  out_of_memory,
  other_device,  // memory on a device that is another rank's
};
[[nodiscard]] constexpr std::string_view name_of(rank_measure measure) {
  return text::enum_name(measure);
}

// The part of a line of code in it: bytes at the peak, here and at a rank that is as usual.
struct rank_line {
  std::string where;
  attribution::category what = attribution::category::unknown;
  std::uint64_t bytes = 0;
  std::uint64_t usual_bytes = 0;
};

struct rank_difference {
  std::size_t row = 0;
  rank_measure measure{};
  double value = 0;
  double usual = 0;
  std::optional<double> distance;  // modified z-score; none: all others are alike, or there are two
  std::size_t compared = 0;        // ranks
  std::vector<rank_line> lines;    // largest difference first
  std::string sentence;
};

// Memory of one process that another one opened: its owner's, counted there only.
struct shared_row {
  std::size_t row = 0;                  // who opened it
  std::optional<std::size_t> owner;     // row; none: not among these traces
  std::uint32_t device = 0;             // as the one who opened it numbers them
  std::uint64_t bytes = 0;              // that are known
  std::uint64_t pieces = 0;             // allocations
  std::uint64_t pieces_of_unknown = 0;  // of them: whose size is not known
};

struct ranks_found {
  std::vector<rank_row> rows;  // by attempt, rank, host, process id
  std::vector<rank_difference> differences;
  std::vector<shared_row> shared;
  std::vector<std::uint64_t> missing;  // ranks of the world that ran without a trace
  std::uint64_t played = 0;            // ranks of the world that a dry run did not run
};

// The ranks among processes that use a device or say which rank they are. Rows point into
// `processes`.
[[nodiscard]] ranks_found find_ranks(const run::run_report& processes);

// Whether the memory is other processes', perhaps in part.
[[nodiscard]] bool is_of_others(const run::outside_holder& holder);

// Memory of this process on the device that is not PyTorch's pool, each part at its highest;
// nothing where the driver was not asked.
[[nodiscard]] std::optional<std::uint64_t> outside_bytes(const run::device_report& device);

// "rank 3", or "pid 4242" of one that does not say; "rank 3 (attempt 2)" of one started again.
[[nodiscard]] std::string name_of(const rank_row& row);

// The parts of it, which tests take by themselves.

// Ranks of one job mostly do the same, so that of each figure the median is what a rank should have,
// and the median distance from it what is usual. Below both of these a distance is nothing to speak
// of.
struct tolerance {
  double absolute = 0;
  double relative = 0;  // of the median
};

struct outlier {
  std::size_t index = 0;  // in the values
  double value = 0;
  double usual = 0;     // the median of all; of two values the other one
  double distance = 0;  // from it, in multiples of what is usual; 0: all others are alike
};

// By the modified z-score of Iglewicz and Hoaglin (How to Detect and Handle Outliers, 1993):
// 0.6745 |x - median| / MAD > 3.5. Of two values that differ the higher one; nothing where no value
// is usual, as in a pipeline whose stages all differ. The largest distance first.
[[nodiscard]] std::vector<outlier> outliers(std::span<const double> values, tolerance allowed);

// The differences among ranks of one attempt, or among processes that say no rank and run the same
// command. The gravest first.
[[nodiscard]] std::vector<rank_difference> differences_of(const std::vector<rank_row>& rows);

// Says in a sentence why a rank differs, with the lines of code that make it so. `usual`: a rank of the same group that does not differ.
void explain_difference(rank_difference& found, const rank_row& row, const rank_row& usual);

// `owner`: the rank whose device it is.
void explain_stray(rank_difference& found, const rank_row& row, const run::device_report& device,
                   const rank_row& owner);

}  // namespace memtrace::ranks
