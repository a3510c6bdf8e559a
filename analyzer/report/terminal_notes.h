// SPDX-License-Identifier: Apache-2.0
//
// What the terminal report says in a sentence each: peaks by phase, steps, how the model was
// trained, and what could not be learned and why.
#pragma once

#include <string>
#include <vector>

#include "analyzer/report/model.h"
#include "analyzer/report/page.h"

namespace memtrace::report {

void add_phases_and_steps(page& out, const process_report& process, const device_report& device);
void add_training(page& out, const process_report& process, const device_report& device);

// In a sentence each; nothing where everything is known.
[[nodiscard]] std::vector<std::string> unknown_meaning(const process_report& process);

// "between them" of what is no phase of training
[[nodiscard]] std::string short_words_of(phase which);

// Something but setup and what is none of the phases.
[[nodiscard]] bool knows_phases(const device_report& device);

// "in the backward pass of step 3", from 0; empty: not known
[[nodiscard]] std::string when_in_training(const device_report& device, const memory_view& view);

}  // namespace memtrace::report
