// SPDX-License-Identifier: Apache-2.0
//
// How lines are shown: on a terminal, or into a file.
#pragma once

namespace memtrace::text {

struct style {
  bool colour = false;
  unsigned width = 0;  // columns; longer lines are cut, unless 0
};

}  // namespace memtrace::text
