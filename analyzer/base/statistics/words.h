// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "analyzer/base/statistics/judge.h"

namespace memtrace::growth {

// The least evidence that would overturn a verdict, as a sentence.
[[nodiscard]] std::string overturned_by(const judgement& given);

}  // namespace memtrace::growth
