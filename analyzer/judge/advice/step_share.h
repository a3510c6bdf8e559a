// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/judge/blocks/evidence.h"
#include "analyzer/model/estimate/expected.h"

namespace memtrace::advice {

[[nodiscard]] estimate::step_share step_share_of(const blocks::evidence& of);

}  // namespace memtrace::advice
