// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/autograd/id_cache.h"

#include "tests/unit/catch.h"

namespace memtrace::autograd {

TEST_CASE("an id cache forgets ids, but never mistakes one for another") {
  id_cache<3> cache;
  CHECK(cache.find(0x1000, 1) == 0);
  cache.keep(0x1000, 1, 7);
  CHECK(cache.find(0x1000, 1) == 7);
  CHECK(cache.find(0x1000, 2) == 0);  // another recorder's
  cache.keep(0x1000, 2, 9);
  CHECK(cache.find(0x1000, 2) == 9);
  CHECK(cache.find(0x1000, 1) == 0);
  for (std::uint32_t i = 1; i <= 100; ++i) cache.keep(i * 64, 2, i);
  unsigned known = 0;
  for (std::uint32_t i = 1; i <= 100; ++i) {
    const std::uint32_t found = cache.find(i * 64, 2);
    CHECK((found == 0 || found == i));
    known += found != 0 ? 1 : 0;
  }
  CHECK(known >= 1);
  CHECK(known <= 8);
}

}  // namespace memtrace::autograd
