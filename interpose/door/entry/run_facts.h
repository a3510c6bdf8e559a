// SPDX-License-Identifier: Apache-2.0
//
// The facts about a run that are known when its recording begins: the info records.
#pragma once

#include "interpose/ground/recorder/recorder.h"

namespace memtrace {

void record_run_facts(recorder& to) noexcept;

// Whether Python stacks are recorded, once that is known or has changed. Cheap enough for every
// event.
void record_python_news(recorder& to) noexcept;

}  // namespace memtrace
