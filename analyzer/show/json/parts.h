// SPDX-License-Identifier: Apache-2.0
//
// The parts of the report as JSON, each in a source of its own.
#pragma once

#include <string>
#include <vector>

#include "analyzer/run/model/model.h"
#include "analyzer/run/ranks/find_ranks.h"
#include "analyzer/show/json/values.h"

namespace memtrace::as_json {

// Who held the memory, as JSON: the parts of the document that tell of moments, phases and steps.
[[nodiscard]] json sites_json(const std::vector<run::call_site>& sites);
// `with_blocks`: the list of single blocks too.
[[nodiscard]] json memory_json(const run::memory_view& view, bool with_blocks);
[[nodiscard]] json parameters_json(const std::vector<attribution::parameter_row>& rows);
// Those of training, then the program's own.
[[nodiscard]] json phases_json(const run::device_report& device);
[[nodiscard]] json fp32_json(const std::vector<run::fp32_place>& places);
// The steps of a run: how many, how they are known, and each step's peaks on each device.
[[nodiscard]] json steps_json(const run::run_report& processes);
// Numbers that the program told.
[[nodiscard]] json counters_json(const std::vector<run::program_counter>& counters);
// How the model was trained: AMP, checkpointing, what is trainable.
[[nodiscard]] json training_json(const run::training_report& training);

// The changes of all processes in their order (run/model/changes.h).
[[nodiscard]] json advice_json(const run::run_report& processes);
// The savings of all pieces together, by device.
[[nodiscard]] json combined_advice_json(const run::run_report& processes);
// Changes that were not looked at, and why.
[[nodiscard]] json advice_limits_json(const run::run_report& processes);

// A device's "expected" (terms) and "room".
[[nodiscard]] json expected_json(const run::process_report& process,
                                 const run::device_report& device);
[[nodiscard]] json room_json(const run::process_report& process, const run::device_report& device);

// Appends what is known of each device of the process.
void add_fragmentation_json(const run::process_report& process, json& all);

// The run's pinned host memory.
[[nodiscard]] json pinned_json(const run::run_report& processes);

// Host memory of the whole run.
[[nodiscard]] json host_json(const run::run_report& processes);

// ranks, rank_differences, shared_memory and missing_ranks of the document.
void add_ranks_json(const ranks::ranks_found& found, json& document);

// Growth that was said to be expected, and how many verdicts that explains.
[[nodiscard]] json expectations_json(const run::process_report& process);
// Appends the verdicts to the array of the document.
// Of one subject: what keeps its memory; null: nothing is advised.
[[nodiscard]] json retainers_json(const std::vector<verdicts::retainer>& all);
[[nodiscard]] json fix_json(const std::optional<verdicts::remedy>& fix);
void add_verdicts_json(const run::process_report& process, json& verdicts);

}  // namespace memtrace::as_json
