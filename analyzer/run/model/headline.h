// SPDX-License-Identifier: Apache-2.0
//
// The answer in one line, the same for whoever shows a run:
//
//   OUT OF MEMORY · 2.3 GiB at train.py:42 · all_logits keeps 3.5 GiB · expandable segments let it pass
//   LEAKS · 1.3 MiB a step at train.py:18 · kept by `history` · out of memory in about 6,140 steps
//   FITS · 506 MiB of 11.7 GiB (4 %) · steady over 60 steps
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/run/model/model.h"
#include "analyzer/trace/code/frames.h"

namespace memtrace::run {

// The headline of one process, over all its devices. After everything else of the report.
[[nodiscard]] headline headline_of(const process_report& process);

// The frames of a stack, innermost first.
using frames_of_t = std::function<std::vector<code::source_frame>(trace::stack_id)>;

// A device of a program that runs, as far as its recording has been read.
struct state_so_far {
  std::uint32_t device = 0;
  std::uint64_t used = 0;      // bytes that PyTorch had reserved at most
  std::uint64_t capacity = 0;  // of the GPU; 0: not known
  bool ran_out = false;        // and went on
  const verdicts::verdict* growth = nullptr;
};
[[nodiscard]] headline headline_so_far(const state_so_far& now, const frames_of_t& frames_of);

// The process that the run's headline is of: what stands worst with it, then what is fullest. The
// run has at least one.
[[nodiscard]] const process_report& decisive_process(const run_report& run);
// Of the whole run: with "rank 3" or "pid 71" where it has several processes.
[[nodiscard]] headline headline_of(const run_report& run);

// "step"; within an evaluation, and where there are no steps, it is the model's calls that count.
[[nodiscard]] std::string unit_of(const verdicts::verdict& about);

// A verdict that a person has to know of: what grows and matters, but for the rows by which it is
// broken down.
[[nodiscard]] bool is_told(const verdicts::verdict& about);

// Whether a verdict on the device is told.
[[nodiscard]] bool grows_on(const process_report& process, std::uint32_t device);

// "out_of_memory", "leaks", "fits_so_far", "fits", "no_gpu_memory"
[[nodiscard]] std::string_view name_of(standing which);
// "LEAKS · 1.3 MiB a step at train.py:18 · kept by `history`"
[[nodiscard]] std::string text_of(const headline& what);

}  // namespace memtrace::run
