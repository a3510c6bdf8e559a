// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/model/optimizer_names.h"

namespace memtrace::run {

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
