// SPDX-License-Identifier: Apache-2.0
//
// Runs a trial of fit: the user's program on a simulated GPU, recorded, watched while it runs, and
// ended as soon as its peaks have settled or memory has run out.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/cli/launch/child_process.h"
#include "analyzer/cli/launch/simulation.h"
#include "analyzer/plan/fit/launch.h"
#include "analyzer/plan/fit/plan.h"
#include "analyzer/plan/fit/trial.h"

namespace memtrace::cli {

struct probe_options {
  simulated_gpu gpu;        // its model and memory are the trial's
  std::uint64_t steps = 0;  // end after so many; 0: when the peaks have settled
  bool whole = false;       // never before its end
  std::uint64_t timeout_s = 600;
};

class dry_run_prober final : public fit::prober {
 public:
  // `folder`: of the probes, one below for each, which is read where it is there already. May be
  // called by several threads at once.
  dry_run_prober(const fit::wishes& wanted, const fit::value_places& places, probe_options options,
                 std::string folder);

  [[nodiscard]] fit::probe run(const fit::trial& wanted) override;

  [[nodiscard]] std::uint64_t runs() const { return made_; }  // that were really made
  // Ends the programs that still run: their results are not wanted any more.
  void cancel() { cancelled_ = true; }

 private:
  void judge(fit::probe& made, const std::optional<child_end>& end, bool timed_out) const;
  [[nodiscard]] std::string folder_of(const fit::trial& wanted) const;
  [[nodiscard]] std::optional<fit::probe> remembered(const fit::trial& wanted) const;
  void keep(const fit::probe& ran) const;

  const fit::wishes& wanted_;
  const fit::value_places& places_;
  probe_options options_;
  std::string folder_;
  std::atomic<std::uint64_t> made_ = 0;
  std::atomic<bool> cancelled_ = false;
};

// From the first call on, the keyboard's Ctrl-C and SIGTERM end the probe that runs.
void end_probes_on_signals();
[[nodiscard]] bool was_interrupted();

}  // namespace memtrace::cli
