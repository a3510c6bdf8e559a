// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/fuzz/analyze.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  memtrace::fuzz::analyze_pickle({data, size});
  return 0;
}
