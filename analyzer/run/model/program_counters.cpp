// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/model/program_counters.h"

#include <algorithm>

#include "memtrace/host_samples.h"

namespace memtrace::run {

// Programs that make a new name each step fill no report; what comes after is left out.
constexpr std::size_t most_names = 1024;

namespace {

// Samples of the recorder's own.
[[nodiscard]] bool is_ours(std::string_view name) {
  return name.starts_with(format::host::prefix);
}

}  // namespace

void program_counters::on_counter(const trace::event&, const trace::counter_event& record) {
  auto known = known_.find(record.name.value);
  if (known == known_.end()) {
    if (found_.size() >= most_names || is_ours(names_[record.name])) return;
    known = known_.emplace(record.name.value, found_.size()).first;
    found_.push_back({std::string(names_[record.name]), 0, 0, record.value, record.value});
  }
  auto& counter = found_[known->second];
  ++counter.times;
  counter.last = record.value;
  counter.least = std::min(counter.least, record.value);
  counter.most = std::max(counter.most, record.value);
}

}  // namespace memtrace::run
