// SPDX-License-Identifier: Apache-2.0
//
// The facts about a run that are known when its recording begins: the info records.
#pragma once

#include "interpose/ground/recorder/recorder.h"

namespace memtrace {

// With the library: what the environment says before the program can change it.
void note_environment() noexcept;
void record_run_facts(recorder& to) noexcept;

// At the end: what the program has set itself.
void record_own_settings(recorder& to) noexcept;

// Whether Python stacks are recorded, once that is known or has changed. Cheap enough for every
// event.
void record_python_news(recorder& to) noexcept;

}  // namespace memtrace
