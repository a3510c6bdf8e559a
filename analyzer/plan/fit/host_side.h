// SPDX-License-Identifier: Apache-2.0
//
// Memory of the host at any batch, from what the dry runs of a few took: the processes that write
// traces, their DataLoader workers by the pages that are their own (proportional), and pinned
// buffers, which are in these. A line through what was measured; the page cache, which the kernel
// gives back, is not in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/plan/fit/trial.h"

namespace memtrace::fit {

struct host_point {
  std::uint64_t batch = 0;
  host_use used;
};

struct host_side {
  double constant = 0;  // bytes
  double per_item = 0;  // bytes for each of the batch
  std::uint64_t points = 0;
  host_use most;  // measured, at the largest batch
};

// Least squares; a single batch gives no slope. Empty: nothing was sampled.
[[nodiscard]] std::optional<host_side> host_side_of(const std::vector<host_point>& seen);

// "host: 3.10 GiB + 1.20 MiB · batch = 3.19 GiB at batch 77 …", with the limit where one is known.
[[nodiscard]] std::string sentence_of(const host_side& found, std::uint64_t batch);

}  // namespace memtrace::fit
