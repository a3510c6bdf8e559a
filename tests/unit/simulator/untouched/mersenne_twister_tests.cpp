// SPDX-License-Identifier: Apache-2.0
#include "simulator/untouched/mersenne_twister.h"

#include <cstdint>
#include <random>

#include "tests/unit/catch.h"

using memtrace::simulator::untouched::mersenne_twister;

namespace {

// As PyTorch and the standard library seed it.
mersenne_twister seeded(std::uint32_t seed) {
  mersenne_twister made{seed, 1, true, 0, {}};
  made.state[0] = seed;
  for (std::uint32_t i = 1; i < mersenne_twister::words; ++i) {
    const std::uint32_t before = made.state[i - 1];
    made.state[i] = 1812433253u * (before ^ (before >> 30)) + i;
  }
  return made;
}

// The number that the next word is tempered to.
std::uint32_t draw(mersenne_twister& from) {
  mersenne_twister after = from;
  after.skip(1);
  std::uint32_t word = after.state[after.next - 1];
  from = after;
  word ^= word >> 11;
  word ^= (word << 7) & 0x9d2c5680u;
  word ^= (word << 15) & 0xefc60000u;
  return word ^ (word >> 18);
}

}  // namespace

TEST_CASE("numbers after a skip are those of the standard library's engine after as many draws") {
  for (const std::uint64_t skipped :
       {0, 1, 4, 226, 227, 396, 397, 622, 623, 624, 625, 1247, 1248, 1249, 100'003, 2'500'000}) {
    CAPTURE(skipped);
    mersenne_twister own = seeded(5489);
    std::mt19937 standard(5489);
    own.skip(skipped);
    standard.discard(skipped);
    CHECK(own.is_valid());
    bool equal = true;
    for (int i = 0; i < 1300; ++i) equal &= draw(own) == standard();
    CHECK(equal);
  }
}

TEST_CASE("skips add up") {
  mersenne_twister once = seeded(7), often = seeded(7);
  once.skip(5000);
  for (int i = 0; i < 50; ++i) often.skip(100);
  CHECK(once.left == often.left);
  CHECK(once.next == often.next);
  CHECK(once.state == often.state);
}
