// SPDX-License-Identifier: Apache-2.0
//
// Verdicts on memory outside of PyTorch's pool: the process, its workers, pinned memory; and what
// is in use on a device beside the pool.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/judge/host/samples.h"
#include "analyzer/judge/verdicts/verdict.h"
#include "analyzer/model/replay/driver_memory.h"

namespace memtrace::host {

// `step_ends`: times, ascending. Subjects `host` (the process), `host:workers`, `host:pinned` and
// `outside:N`, each where there is anything to judge.
[[nodiscard]] std::vector<verdicts::verdict> judge_host(
    const host_samples& samples, std::span<const replay::pinned_change> pinned,
    std::span<const std::uint64_t> step_ends);

}  // namespace memtrace::host
