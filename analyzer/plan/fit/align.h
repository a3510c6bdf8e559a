// SPDX-License-Identifier: Apache-2.0
//
// The requests of the same program at two batches, side by side: the k-th allocation of one is the
// k-th of the other where both ask on the same stream and for the same pool, all the way. Then a
// size is taken to be affine in the batch,
//
//   size(b) = size(b0) + (size(b1) - size(b0)) · (b - b0) / (b1 - b0)
//
// and the requests of any other batch follow from the two.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/model/allocator/request_log.h"

namespace memtrace::fit {

// Allocations of the shorter log, where the logs are alike up to there; empty: they are not. Alike:
// the same streams and pools; where no steps are known (device_use::step_ends), as many
// allocations in all, else at most twice as many.
[[nodiscard]] std::optional<std::size_t> common_allocations(
    const allocator::request_log& one, const allocator::request_log& other,
    const std::vector<std::size_t>& step_ends, const std::vector<std::size_t>& other_step_ends);

// Every size is the same, as far as both logs go.
[[nodiscard]] bool ask_the_same(const allocator::request_log& one,
                                const allocator::request_log& other);

// The first `allocations` of `skeleton`, and what was asked for between them, with sizes of batch
// `wanted` instead of those of `skeleton_batch`. Nothing of it is said to have been recorded.
[[nodiscard]] allocator::request_log requests_at(const allocator::request_log& skeleton,
                                                 std::uint64_t skeleton_batch,
                                                 const allocator::request_log& other,
                                                 std::uint64_t other_batch, std::size_t allocations,
                                                 std::uint64_t wanted);

}  // namespace memtrace::fit
