// SPDX-License-Identifier: Apache-2.0
//
// A dry run's result as it is kept beside its traces, to be taken up again: all that the traces do
// not tell.
#pragma once

#include <optional>
#include <string>

#include "analyzer/plan/fit/trial.h"

namespace memtrace::fit {

[[nodiscard]] std::string to_text(const probe& ran);
// Empty: it is not such a text, or of another trial.
[[nodiscard]] std::optional<probe> probe_in(const std::string& text, const trial& wanted);

}  // namespace memtrace::fit
