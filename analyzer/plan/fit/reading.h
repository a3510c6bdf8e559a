// SPDX-License-Identifier: Apache-2.0
//
// The trace of one process of a dry run, read once, whether it is still written or done: its
// steps and peaks as they come, and in the end what each device was asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "analyzer/plan/fit/trial.h"
#include "analyzer/trace/reader/dictionary.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::fit {

struct step_peak {
  std::uint64_t allocated = 0;  // the highest so far, bytes
  std::uint64_t reserved = 0;
  std::uint64_t outside = 0;  // device memory of the process that is not PyTorch's pool
};

// When a dry run has been watched for long enough: the peaks of its steps do not rise any more.
class settle {
 public:
  // The peaks of the whole run, as they are when a step ends.
  void end_step(const step_peak& so_far) {
    ++steps_;
    if (steps_ == 1 || so_far.allocated > last_.allocated || so_far.reserved > last_.reserved ||
        so_far.outside > last_.outside) {
      risen_ = steps_;
    }
    last_ = so_far;
  }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  [[nodiscard]] std::uint64_t last_rise() const { return risen_; }  // step, from 1; 0: none ended
  // Nothing rose in the last three steps, nor in the last half of them (of long runs: ten).
  [[nodiscard]] bool is_settled() const {
    const auto half = (steps_ + 1) / 2;
    const auto wanted = half < fewest ? fewest : (half > most ? most : half);
    return steps_ - risen_ >= wanted;
  }

 private:
  static constexpr std::uint64_t fewest = 3;
  static constexpr std::uint64_t most = 10;
  step_peak last_;
  std::uint64_t steps_ = 0;
  std::uint64_t risen_ = 0;  // the latest step in which something rose; from 1
};

class reading {
 public:
  explicit reading(const trace::dictionary& names);
  reading(const reading&) = delete;
  reading& operator=(const reading&) = delete;
  ~reading();

  [[nodiscard]] trace::record_visitor& visitor();
  [[nodiscard]] const settle& steps() const;
  [[nodiscard]] bool uses_a_device() const;  // something was allocated there
  [[nodiscard]] bool ran_out() const;
  [[nodiscard]] bool went_on_after() const;  // running out: something was allocated afterwards
  [[nodiscard]] bool went_backward() const;
  [[nodiscard]] std::vector<code::unknown_size> unknown_sizes() const;
  [[nodiscard]] std::optional<refusal> refused() const;  // the first one

  [[nodiscard]] host_use host() const;

  // No more records. Once.
  [[nodiscard]] std::vector<device_use> finish(std::uint64_t process);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace memtrace::fit
