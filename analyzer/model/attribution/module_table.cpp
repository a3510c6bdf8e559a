// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/attribution/module_table.h"

namespace memtrace::attribution {

void module_table::name(const trace::module_event& record) {
  const module_place place{record.root, names_[record.path]};
  places_[record.object.value] = place;
  types_[place] = names_[record.type];
  if ((record.flags & format::module_checkpointed) != 0) checkpointed_.insert(place);
  if (!place.path.empty()) return;
  if (record.object != record.root) wrappers_[record.object] = record.root;
  if (numbers_.try_emplace(record.root, 0).second) roots_.push_back(record.root);
  are_numbered_ = false;
}

trace::object_id module_table::outermost(trace::object_id root) const {
  // No longer than there are wrappers, should a trace say that two wrap one another.
  for (std::size_t i = 0; i < wrappers_.size(); ++i) {
    const auto found = wrappers_.find(root);
    if (found == wrappers_.end()) break;
    root = found->second;
  }
  return root;
}

const module_place* module_table::find(trace::object_id object) const {
  const auto found = places_.find(object.value);
  return found == places_.end() ? nullptr : &found->second;
}

std::string_view module_table::type_of(const module_place& place) const {
  const auto found = types_.find(place);
  return found == types_.end() ? std::string_view() : found->second;
}

void module_table::number_roots() const {
  std::map<std::string_view, std::uint32_t> of_type;
  for (auto& [root, number] : numbers_) number = 0;
  for (const auto root : roots_) {
    auto& number = numbers_[outermost(root)];
    if (number == 0) number = ++of_type[type_of({outermost(root), {}})];
  }
  are_numbered_ = true;
}

std::string module_table::root_name(trace::object_id root) const {
  root = outermost(root);
  if (!are_numbered_) number_roots();
  const auto type = type_of({root, {}});
  const auto found = numbers_.find(root);
  std::string made(type.empty() ? std::string_view("model") : type);
  if (found != numbers_.end() && found->second > 1) made += " #" + std::to_string(found->second);
  return made;
}

std::string_view parent_path(std::string_view path) {
  const auto dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
}

}  // namespace memtrace::attribution
