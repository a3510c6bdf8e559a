// SPDX-License-Identifier: Apache-2.0
//
// The parts of the terminal report, each in a source of its own. They append lines to a page;
// `room` is how many there are at most, `columns` how many characters a line has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/text/page.h"
#include "analyzer/run/model/memory_view.h"
#include "analyzer/run/model/model.h"
#include "analyzer/run/ranks/find_ranks.h"
#include "memtrace/capabilities.h"

namespace memtrace::terminal {

// The answer, wrapped and never cut.
void add_headline(text::page& out, const run::headline& what, std::size_t columns);

// About one device: capacity, peaks, what is reserved but unused and why, what lies outside
// PyTorch. Up to 6 lines.
void add_device(text::page& out, const run::process_report& process,
                const run::device_report& device);

// CUDA graphs: what their captures got, and which of them needed the most; up to 4 lines, none
// where there are no graphs.
void add_graphs(text::page& out, const run::device_report& device);

// An out-of-memory error: the request, where the memory was, and how much was free. Up to 4 lines.
void add_oom(text::page& out, const run::process_report& process, const run::oom_report& oom,
             std::size_t columns);

// About one moment: what the memory is, whose it is, and which lines asked for it. Each has a
// heading, at most so many rows, and the sum of the rest.
void add_categories(text::page& out, const run::memory_view& view, const std::string& heading,
                    std::size_t most_rows);
// Nothing where no module is known.
void add_modules(text::page& out, const run::memory_view& view, std::size_t most_rows);
void add_lines_of_code(text::page& out, const std::vector<run::call_site>& sites,
                       std::uint64_t total, std::size_t most_rows);

// Notes in a sentence each: peaks by phase, steps, how the model was trained.
void add_phases_and_steps(text::page& out, const run::process_report& process,
                          const run::device_report& device);
void add_training(text::page& out, const run::process_report& process,
                  const run::device_report& device);

// What could not be learned and why, in a sentence each; nothing where everything is known.
[[nodiscard]] std::vector<std::string> unknown_meaning(const run::process_report& process);

// Something but setup and what is none of the phases.
[[nodiscard]] bool knows_phases(const run::device_report& device);

// "in the backward pass of step 3", from 0; empty: not known
[[nodiscard]] std::string when_in_training(const run::device_report& device,
                                           const run::memory_view& view);

// Notes about a snapshot of PyTorch's, or a trace of its profiler, that stands for a recording.
// At the top, in a line or two: what it is, and where its history begins. Nothing of a recording.
[[nodiscard]] std::vector<std::string> what_a_snapshot_is(const run::process_report& process);

// Behind the number of events: whether they lead to the segments that it lists.
[[nodiscard]] const char* how_a_snapshot_ends(const run::snapshot_facts& snapshot);

// At the end, in a sentence each.
[[nodiscard]] std::vector<std::string> what_a_snapshot_lacks(const run::snapshot_facts& snapshot);

// Why something is not in the report, in a sentence each: what could not be recorded in that program,
// and what a fuller mode would have told. Nothing for older traces.
[[nodiscard]] std::vector<std::string> recording_notes(const run::process_report& process);

// A line about what was said to be expected and did not grow; empty: there is none.
[[nodiscard]] std::string unmatched_expectations(const run::run_report& processes,
                                                 const run::process_report& shown);

// The mode had it off: recording_notes says so.
[[nodiscard]] bool is_off_by_mode(const run::run_facts& run, capability which);

// Everything that grows, most urgent first, and habits that cost; nothing where nothing does.
void add_growth(text::page& out, const run::process_report& process,
                const run::device_report& device, std::size_t room, std::size_t columns);

// That a device does not grow, why that cannot be told, or what bounds it; and what its phases
// gather. Nothing of what add_growth() warns of.
[[nodiscard]] std::vector<std::string> calm_lines(const run::process_report& process,
                                                  std::uint32_t device, std::size_t columns);

// ", accumulates 3 MiB a step", to be appended to a line about a device. Empty: it does not.
[[nodiscard]] std::string growth_in_brief(const run::process_report& process, std::uint32_t device);

// The shape of a series where there is no amount beside it: "grows by jumps", "warmup plateau".
[[nodiscard]] std::string shape_heading(growth::shape found);

// Changes, ranked by what they save.
// How many lines add_advice would take at most; 0: there is nothing to say.
[[nodiscard]] std::size_t advice_lines(const run::process_report& process, std::size_t columns);
// The first few, of at most `room` lines.
void add_advice(text::page& out, const run::process_report& process, std::size_t room,
                std::size_t columns);

// All of them, with evidence, cost and when not to take them.
void add_advice_in_full(text::page& out, const run::process_report& process, std::size_t columns);

// Why more is reserved than allocated, only where it matters: what is wasted, why, and who keeps it.
// Lines of about `columns` characters; 5 at most.
void add_fragmentation(text::page& out, const run::process_report& process,
                       const run::device_report& device, std::size_t room, std::size_t columns);

// All figures of a device.
void add_fragmentation_in_full(text::page& out, const run::process_report& process,
                               const run::device_report& device);

// The formulas of memtrace estimate beside what was measured.
void add_expected_in_full(text::page& out, const run::process_report& process,
                          const run::device_report& device);

// A line where a term is more than 10 % above what was expected, and worth it beside the peak;
// empty: none is. Less than expected is for the full view.
[[nodiscard]] std::string expected_in_brief(const run::process_report& process,
                                            const run::device_report& device);

// How many ranks there are, what they peak at, which are missing, which differ and why, in at most
// `room` lines. Nothing of a single process.
void add_ranks(text::page& out, const ranks::ranks_found& found, std::size_t room,
               std::size_t columns);

// All of them, a line each, then all differences and what is shared.
void add_rank_table(text::page& out, const ranks::ranks_found& found, std::size_t columns);

// One line where host memory came near to its limit; else nothing.
void add_host_limit(text::page& out, const run::run_report& processes);

// Who holds the device: when most of it was in use, and by whom; up to 3 lines. Without samples, what
// is known to
// lie outside of PyTorch's pool.
void add_device_use(text::page& out, const run::device_report& device);

}  // namespace memtrace::terminal
