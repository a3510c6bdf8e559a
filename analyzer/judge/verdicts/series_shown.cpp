// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/series_shown.h"

#include <algorithm>

namespace memtrace::verdicts {

// Values stand for the steps 0, stride, 2·stride, …
void thinned_series::add(std::uint64_t bytes, std::uint64_t times) {
  for (const auto end = steps_ + times; steps_ < end;) {
    const auto next = shown_.bytes.size() * shown_.stride;
    if (next >= end) {
      steps_ = end;
      return;
    }
    if (shown_.bytes.size() < most) {
      shown_.bytes.push_back(bytes);
      continue;
    }
    for (std::size_t i = 0; 2 * i < most; ++i) shown_.bytes[i] = shown_.bytes[2 * i];
    shown_.bytes.resize(most / 2);
    shown_.stride *= 2;
  }
}

}  // namespace memtrace::verdicts
