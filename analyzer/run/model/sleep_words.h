// SPDX-License-Identifier: Apache-2.0
//
// What is asleep, in words: blocks that keep their addresses while nothing is behind them.
#pragma once

#include <string>

#include "analyzer/run/model/model.h"

namespace memtrace::run {

// "at most (1 block, serve.py:14), 8 times; at a wake-up 14 GiB must be free again"
[[nodiscard]] std::string sleep_words(const device_report& device);

// "PyTorch's pool has 16 GiB, 1 GiB of it unused, beside 14 GiB asleep"
[[nodiscard]] std::string pool_words(const replay::device_totals& totals);

}  // namespace memtrace::run
