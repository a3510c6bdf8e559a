// SPDX-License-Identifier: Apache-2.0
//
// What verdicts on memory outside of PyTorch's pool say to people.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/judge/host/samples.h"
#include "analyzer/judge/verdicts/verdict.h"

namespace memtrace::host {

// "the container (cgroup v2)", "the machine", …
[[nodiscard]] std::string_view name_of(format::host::limit_source from);

// Sets the summary; of workers also what to write instead, where the cause is seen in the series.
void describe(verdicts::verdict& made, const host_samples& samples);

}  // namespace memtrace::host
