// SPDX-License-Identifier: Apache-2.0
//
// One replay of a request log: the model and where it stands.
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/model/allocator/model.h"
#include "analyzer/model/allocator/request_log.h"
#include "analyzer/model/allocator/what_if.h"

namespace memtrace::allocator {

class request_replayer {
 public:
  // All must outlive it.
  request_replayer(const request_log& log, const scenario& under, driver& answers)
      : log_(log), under_(under), model_(log, under.options, under.total_bytes, answers) {}

  // `placed`: where an allocation is.
  struct step_result {
    std::optional<model::placed> placed;
    bool refused = false;
    bool completed = false;  // of `complete`: the block was pending
  };
  step_result step(const request& asked);

  [[nodiscard]] model& state() { return model_; }
  [[nodiscard]] const model& state() const { return model_; }

 private:
  void change_settings_to(std::uint64_t text);

  const request_log& log_;
  const scenario& under_;
  model model_;
};

}  // namespace memtrace::allocator
