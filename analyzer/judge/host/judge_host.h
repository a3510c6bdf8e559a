// SPDX-License-Identifier: Apache-2.0
//
// Verdicts on memory outside of PyTorch's pool: the process, its workers, pinned memory; and what
// is in use on a device beside the pool.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/judge/host/samples.h"
#include "analyzer/judge/verdicts/verdict.h"
#include "analyzer/model/replay/driver_memory.h"

namespace memtrace::host {

// What is known of the steps.
struct known_steps {
  std::uint64_t positions = 0;  // they are the tokens of one sequence, as many as the model has
  bool by_loop = false;         // they are the turns of a loop that has ended
  bool piles_up = false;  // in them objects do on a GPU, for each of which the host has a small one
};

// `step_ends`: times, ascending. Subjects `host` (the process), `host:workers`, `host:pinned` and
// `outside:N`, each where there is anything to judge.
[[nodiscard]] std::vector<verdicts::verdict> judge_host(
    const host_samples& samples, std::span<const replay::pinned_change> pinned,
    std::span<const std::uint64_t> step_ends, const known_steps& known = {});

// Id of the remedy for growth that is free memory in the C library's heap.
inline constexpr char free_heap[] = "free_heap";

// The words of verdicts on memory outside of PyTorch's pool.

// "the container (cgroup v2)", "the machine", …
[[nodiscard]] std::string_view name_of(format::host::limit_source from);

// Of one that is left open: what it grew by, and `why` that settles nothing.
[[nodiscard]] std::string open_growth(const verdicts::verdict& made, double bytes_per_step,
                                      std::string_view why);

// Sets the summary; of workers also what to write instead, where the cause is seen in the series.
void describe(verdicts::verdict& made, const host_samples& samples,
              std::span<const std::uint64_t> step_ends);

}  // namespace memtrace::host
