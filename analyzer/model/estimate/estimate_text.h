// SPDX-License-Identifier: Apache-2.0
//
// An estimate for people, and for tools.
#pragma once

#include <string>
#include <vector>

#include "analyzer/model/estimate/estimate.h"
#include "analyzer/model/estimate/fit.h"

namespace memtrace::estimate {

[[nodiscard]] std::string to_text(const plan& wanted, const estimation& made,
                                  const std::vector<gpu_fit>& fits);
// memtrace-estimate/1
[[nodiscard]] std::string to_json(const plan& wanted, const estimation& made,
                                  const std::vector<gpu_fit>& fits);

}  // namespace memtrace::estimate
