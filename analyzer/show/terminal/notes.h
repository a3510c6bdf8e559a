// SPDX-License-Identifier: Apache-2.0
//
// What the terminal report says in a sentence each: peaks by phase, steps, how the model was
// trained, and what could not be learned and why.
#pragma once

#include <string>
#include <vector>

#include "analyzer/base/text/page.h"
#include "analyzer/run/model/model.h"

namespace memtrace::terminal {

void add_phases_and_steps(text::page& out, const run::process_report& process,
                          const run::device_report& device);
void add_training(text::page& out, const run::process_report& process,
                  const run::device_report& device);

// In a sentence each; nothing where everything is known.
[[nodiscard]] std::vector<std::string> unknown_meaning(const run::process_report& process);

// Something but setup and what is none of the phases.
[[nodiscard]] bool knows_phases(const run::device_report& device);

// "in the backward pass of step 3", from 0; empty: not known
[[nodiscard]] std::string when_in_training(const run::device_report& device,
                                           const run::memory_view& view);

}  // namespace memtrace::terminal
