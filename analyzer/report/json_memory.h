// SPDX-License-Identifier: Apache-2.0
//
// Who held the memory, as JSON: the parts of the document that tell of moments, phases and steps.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analyzer/report/model.h"

namespace memtrace::report {

using json = nlohmann::ordered_json;

[[nodiscard]] json text_or_null(const std::string& text);
[[nodiscard]] json frames_json(const std::vector<source_frame>& frames);
[[nodiscard]] json sites_json(const std::vector<call_site>& sites);
// `with_blocks`: the list of single blocks too.
[[nodiscard]] json memory_json(const memory_view& view, bool with_blocks);
[[nodiscard]] json parameters_json(const std::vector<attribution::parameter_row>& rows);
// Those of training, then the program's own.
[[nodiscard]] json phases_json(const device_report& device);
[[nodiscard]] json fp32_json(const std::vector<fp32_place>& places);
// Of a run: how often, how they are known, and each step's peaks on each device.
[[nodiscard]] json steps_json(const run_report& processes);
// Numbers that the program told.
[[nodiscard]] json counters_json(const std::vector<program_counter>& counters);
// How the model was trained: AMP, checkpointing, what is trainable.
[[nodiscard]] json training_json(const training_report& training);

}  // namespace memtrace::report
