// SPDX-License-Identifier: Apache-2.0
//
// The classes of the optimizers that stepped.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/trace/reader/dictionary.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::run {

struct optimizer_class {
  std::string name;         // AdamW
  std::uint64_t steps = 0;  // of all optimizers of the class
};

class optimizer_names final : public trace::record_visitor {
 public:
  explicit optimizer_names(const trace::dictionary& names) : names_(names) {}

  void on_step(const trace::event& head, const trace::step_event& record) override;
  [[nodiscard]] std::vector<optimizer_class> found() const;  // by name

 private:
  const trace::dictionary& names_;
  std::map<std::uint32_t, std::uint64_t> steps_;  // by text
};

}  // namespace memtrace::run
