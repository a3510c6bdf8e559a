// SPDX-License-Identifier: Apache-2.0
//
// The trace of one process of a dry run, read once, whether it is still written or done: its
// steps and peaks as they come, and in the end what each device was asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "analyzer/plan/fit/settle.h"
#include "analyzer/plan/fit/trial.h"
#include "analyzer/trace/reader/dictionary.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::fit {

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
  [[nodiscard]] std::optional<refusal> refused() const;  // the first one

  [[nodiscard]] host_use host() const;

  // No more records. Once.
  [[nodiscard]] std::vector<device_use> finish(std::uint64_t process);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace memtrace::fit
