// SPDX-License-Identifier: Apache-2.0
//
// Who held the memory, as JSON: the parts of the document that tell of moments, phases and steps.
#pragma once

#include <string>
#include <vector>

#include "analyzer/run/model/model.h"
#include "analyzer/show/json/values.h"

namespace memtrace::as_json {

[[nodiscard]] json sites_json(const std::vector<run::call_site>& sites);
// `with_blocks`: the list of single blocks too.
[[nodiscard]] json memory_json(const run::memory_view& view, bool with_blocks);
[[nodiscard]] json parameters_json(const std::vector<attribution::parameter_row>& rows);
// Those of training, then the program's own.
[[nodiscard]] json phases_json(const run::device_report& device);
[[nodiscard]] json fp32_json(const std::vector<run::fp32_place>& places);
// Of a run: how often, how they are known, and each step's peaks on each device.
[[nodiscard]] json steps_json(const run::run_report& processes);
// Numbers that the program told.
[[nodiscard]] json counters_json(const std::vector<run::program_counter>& counters);
// How the model was trained: AMP, checkpointing, what is trainable.
[[nodiscard]] json training_json(const run::training_report& training);

}  // namespace memtrace::as_json
