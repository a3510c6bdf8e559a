// SPDX-License-Identifier: Apache-2.0
//
// The numbers that the program reported over time, by memtrace_counter; and the classes of the
// optimizers that stepped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/trace/reader/dictionary.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::run {

struct program_counter {
  std::string name;
  std::uint64_t times = 0;  // set
  double last = 0;
  double least = 0;
  double most = 0;
};

class program_counters final : public trace::record_visitor {
 public:
  explicit program_counters(const trace::dictionary& names) : names_(names) {}

  void on_counter(const trace::event& head, const trace::counter_event& record) override;
  // In the order in which they first came.
  [[nodiscard]] const std::vector<program_counter>& found() const { return found_; }

 private:
  const trace::dictionary& names_;
  std::vector<program_counter> found_;
  std::map<std::uint32_t, std::size_t> known_;  // by text
};

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
