// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/model/program_records.h"

#include <algorithm>

#include "memtrace/host_samples.h"

namespace memtrace::run {

namespace {

// Samples of the recorder's own.
[[nodiscard]] bool is_ours(std::string_view name) {
  return name.starts_with(format::host::prefix);
}

}  // namespace

// Programs that make a new name each step fill no report; what comes after is left out.
constexpr std::size_t most_names = 1024;

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

// A program that makes classes without end fills no report; the classes after these are left out.
constexpr std::size_t most_classes = 64;

void optimizer_names::on_step(const trace::event&, const trace::step_event& record) {
  if (record.source != format::step_source::optimizer) return;
  const auto known = steps_.find(record.name.value);
  if (known != steps_.end()) {
    ++known->second;
  } else if (steps_.size() < most_classes) {
    steps_.emplace(record.name.value, 1);
  }
}

std::vector<optimizer_class> optimizer_names::found() const {
  std::map<std::string, std::uint64_t> by_name;
  for (const auto& [text, steps] : steps_) {
    by_name[std::string(names_[trace::text_id{text}])] += steps;
  }
  std::vector<optimizer_class> list;
  for (const auto& [name, steps] : by_name) list.push_back({name, steps});
  return list;
}

}  // namespace memtrace::run
