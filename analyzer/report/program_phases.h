// SPDX-License-Identifier: Apache-2.0
//
// What the program said of itself: the phases and NVTX ranges that it opens, with how high each
// device was while they were open, and its counters.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/trace/dictionary.h"
#include "analyzer/trace/records.h"

namespace memtrace::report {

struct program_peak {
  std::uint64_t bytes = 0;  // the highest allocated total
  std::uint64_t event = 0;
};

struct program_phase {
  std::string name;
  bool nvtx = false;
  std::uint64_t times = 0;                        // opened
  std::map<std::uint32_t, program_peak> highest;  // by device
};

struct program_counter {
  std::string name;
  std::uint64_t times = 0;  // set
  double last = 0;
  double least = 0;
  double most = 0;
};

class program_phases final : public trace::record_visitor {
 public:
  explicit program_phases(const trace::dictionary& names) : names_(names) {}

  void on_allocator(const trace::event& head, const trace::allocator_event& record) override;
  void on_report(const trace::report_event& report) override;
  void on_phase(const trace::event& head, const trace::phase_event& record) override;
  void on_counter(const trace::event& head, const trace::counter_event& record) override;

  // In the order in which they first came.
  [[nodiscard]] std::vector<program_phase> phases() const { return phases_; }
  [[nodiscard]] std::vector<program_counter> counters() const { return counters_; }

 private:
  [[nodiscard]] std::size_t phase_named(bool nvtx, trace::text_id name);

  const trace::dictionary& names_;
  std::vector<program_phase> phases_;
  std::vector<std::uint64_t> open_times_;  // by phase: how often it is open now
  std::vector<std::size_t> open_;          // phases that are
  std::map<std::pair<bool, std::uint32_t>, std::size_t> known_;
  std::vector<program_counter> counters_;
  std::map<std::uint32_t, std::size_t> known_counters_;
  std::map<std::uint32_t, std::uint64_t> allocated_;  // by device, as the allocator last said
  std::uint64_t event_ = 0;
};

}  // namespace memtrace::report
