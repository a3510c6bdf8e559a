// SPDX-License-Identifier: Apache-2.0
//
// In a process of its own: afterwards there is no room for names.
#include <string>

#include "interpose/door/api/names.h"
#include "tests/unit/catch.h"

namespace names = memtrace::names;

TEST_CASE("a program that makes up names for ever is given one for all of them") {
  for (std::uint32_t i = 0; i < names::max_names; ++i) {
    (void)names::intern("made up " + std::to_string(i));
  }
  CHECK(names::intern("one too many")->text == "…");
  CHECK(names::intern("made up 0")->text == "made up 0");
}
