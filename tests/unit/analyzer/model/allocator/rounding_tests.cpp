// SPDX-License-Identifier: Apache-2.0
//
// Expected values follow from the rules in PyTorch's documentation of PYTORCH_CUDA_ALLOC_CONF and
// the comments on its constants.
#include "analyzer/model/allocator/rounding.h"

#include "tests/unit/analyzer/model/allocator/made_requests.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::allocator;
using test::operator""_KiB;
using test::operator""_MiB;
using test::operator""_GiB;

TEST_CASE("sizes are multiples of 512 bytes, and none is nothing") {
  const settings defaults;
  CHECK(round_size(defaults, 0) == 512);
  CHECK(round_size(defaults, 1) == 512);
  CHECK(round_size(defaults, 512) == 512);
  CHECK(round_size(defaults, 513) == 1024);
  CHECK(round_size(defaults, 1_MiB + 1) == 1_MiB + 512);
}

TEST_CASE("powers of two are divided as the option says") {
  settings options;
  options.roundup_power2_divisions.fill(4);
  CHECK(round_size(options, 2048) == 2048);  // up to 512 times the divisions: as without
  CHECK(round_size(options, 1200) == 1536);
  CHECK(round_size(options, 4096) == 4096);
  CHECK(round_size(options, 4097) == 5_KiB);
  CHECK(round_size(options, 5_KiB) == 5_KiB);
  CHECK(round_size(options, 65_MiB) == 80_MiB);
}

TEST_CASE("divisions are by size: below 2 MiB the first, from 32 GiB the last") {
  settings options;
  options.roundup_power2_divisions.front() = 2;
  options.roundup_power2_divisions[1] = 8;  // 2 to 4 MiB
  options.roundup_power2_divisions.back() = 4;
  CHECK(round_size(options, 1_MiB + 1) == 1_MiB + 512_KiB);
  CHECK(round_size(options, 2_MiB + 1) == 2_MiB + 256_KiB);
  CHECK(round_size(options, 5_MiB + 1) == 5_MiB + 512);
  CHECK(round_size(options, 33_GiB) == 40_GiB);
}

TEST_CASE("segments are 2 MiB, 20 MiB or as large as the block") {
  settings options;
  CHECK(segment_bytes(options, 512) == 2_MiB);
  CHECK(segment_bytes(options, 1_MiB) == 2_MiB);
  CHECK(segment_bytes(options, 1_MiB + 512) == 20_MiB);
  CHECK(segment_bytes(options, 10_MiB - 512) == 20_MiB);
  CHECK(segment_bytes(options, 10_MiB) == 10_MiB);
  CHECK(segment_bytes(options, 10_MiB + 512) == 12_MiB);
  options.large_segment_size = 64_MiB;
  CHECK(segment_bytes(options, 2_MiB) == 64_MiB);
  CHECK(segment_bytes(options, 11_MiB) == 12_MiB);
}
