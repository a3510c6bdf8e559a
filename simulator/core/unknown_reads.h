// SPDX-License-Identifier: Apache-2.0
//
// Counts reads of device memory that no simulated GPU can know, and says so once, at exit.
#pragma once

#include <cstdint>

namespace memtrace::simulator::unknown_reads {

// Data that a kernel computed, or that was too large to remember, was copied to the host.
void note();

[[nodiscard]] std::uint64_t count();

}  // namespace memtrace::simulator::unknown_reads
