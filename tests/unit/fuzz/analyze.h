// SPDX-License-Identifier: Apache-2.0
//
// What the fuzzers do with bytes: everything that memtrace report and memtrace dump do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace memtrace::fuzz {

// The bytes as a file. Checksums of the headers are made right first, so that hostile lengths
// reach the code behind them; those inside zstd frames stay.
void analyze_file(std::span<const std::uint8_t> bytes);

// The bytes as the records of a slot: two bytes with the size of the record area, the record area,
// the time area.
void analyze_records(std::span<const std::uint8_t> bytes);

// The bytes as a memory snapshot of PyTorch's, made a trace and reported on.
void analyze_pickle(std::span<const std::uint8_t> bytes);

}  // namespace memtrace::fuzz
