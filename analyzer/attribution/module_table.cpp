// SPDX-License-Identifier: Apache-2.0
#include "analyzer/attribution/module_table.h"

namespace memtrace::attribution {

void module_table::name(const trace::module_event& record) {
  const module_place place{record.root, names_[record.path]};
  places_[record.object.value] = place;
  types_[place] = names_[record.type];
  if ((record.flags & format::module_checkpointed) != 0) checkpointed_.insert(place);
  if (!place.path.empty() || root_numbers_.contains(record.root)) return;
  root_numbers_[record.root] = ++roots_of_type_[names_[record.type]];
}

const module_place* module_table::find(trace::object_id object) const {
  const auto found = places_.find(object.value);
  return found == places_.end() ? nullptr : &found->second;
}

std::string_view module_table::type_of(const module_place& place) const {
  const auto found = types_.find(place);
  return found == types_.end() ? std::string_view() : found->second;
}

std::string module_table::root_name(trace::object_id root) const {
  const auto type = type_of({root, {}});
  const auto found = root_numbers_.find(root);
  const auto number = found == root_numbers_.end() ? 1 : found->second;
  std::string made(type.empty() ? std::string_view("model") : type);
  if (number > 1) made += " #" + std::to_string(number);
  return made;
}

std::string_view parent_path(std::string_view path) {
  const auto dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
}

}  // namespace memtrace::attribution
