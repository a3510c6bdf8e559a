// SPDX-License-Identifier: Apache-2.0
//
// The need of the requests alone, whatever the allocator: the bytes that are live at once, each
// block rounded up to 512. One pass over the requests.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "analyzer/model/allocator/request_log.h"

namespace memtrace::replay {
class graph_pools;
}

namespace memtrace::fragmentation {

inline constexpr std::uint32_t never = std::numeric_limits<std::uint32_t>::max();

// Up to the next 512 bytes, at least 512: the least that any block takes.
[[nodiscard]] std::uint64_t least_block(std::uint64_t requested);

struct live_bytes {
  std::uint64_t most = 0;              // not given back by the program
  std::uint64_t most_active = 0;       // not given back, or still held by a stream
  std::size_t most_blocks = 0;         // active at once
  std::vector<std::uint32_t> freed;    // by block: request that gave it back; never: none did
  std::vector<std::uint32_t> fullest;  // of each window: the request after which most were active
};

// `windows`: into so many equal parts the requests are divided. `graphs`: as long as they work in a
// pool, no less is needed there than was live during a capture.
[[nodiscard]] live_bytes measure_live_bytes(const allocator::request_log& log, std::size_t windows,
                                            const replay::graph_pools* graphs = nullptr);

// By index in request_log::pools: whether CUDA graphs work in it after the request.
[[nodiscard]] std::vector<bool> replayed_in(const allocator::request_log& log,
                                            const replay::graph_pools& graphs,
                                            std::uint32_t request);

}  // namespace memtrace::fragmentation
