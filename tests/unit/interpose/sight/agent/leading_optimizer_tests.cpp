// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/agent/leading_optimizer.h"

#include "tests/unit/catch.h"

using memtrace::agent::leading_optimizer;

namespace {

constexpr std::uint64_t discriminator = 0x1000;
constexpr std::uint64_t generator = 0x2000;

}  // namespace

TEST_CASE("of two optimizers that take turns the first one leads") {
  leading_optimizer leader;
  for (int i = 0; i < 1000; ++i) {
    CHECK(leader.is_led_by(discriminator));
    CHECK_FALSE(leader.is_led_by(generator));
  }
}

TEST_CASE("an optimizer that steps no more is succeeded") {
  leading_optimizer leader;
  CHECK(leader.is_led_by(discriminator));
  int waited = 0;
  while (!leader.is_led_by(generator)) ++waited;
  CHECK(waited > 100);
  CHECK(waited < 1000);
  CHECK(leader.is_led_by(generator));
}

TEST_CASE("the program's own marks go before optimizers") {
  leading_optimizer leader;
  CHECK(leader.is_led_by(generator));
  CHECK(leader.is_led_by(leading_optimizer::the_program));
  CHECK_FALSE(leader.is_led_by(generator));
}
