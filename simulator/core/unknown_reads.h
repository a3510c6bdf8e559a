// SPDX-License-Identifier: Apache-2.0
//
// Counts reads of device memory that no simulated GPU can know, and says so once, at exit.
#pragma once

#include <cstddef>
#include <cstdint>

namespace memtrace::simulator::unknown_reads {

// Data that a kernel computed, or that was too large to remember, was copied to the host.
void note(std::uint64_t address, std::size_t bytes);

[[nodiscard]] std::uint64_t count();

}  // namespace memtrace::simulator::unknown_reads
