// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/advice/module_copies.h"

#include <utility>

namespace memtrace::advice {

namespace {

using module_key = std::pair<trace::object_id, std::string_view>;  // root and path

struct class_facts {
  std::uint32_t modules = 0;
  bool has_children = false;
  bool checkpointed = false;
};

// "layers.3" of "layers.3.attention", "" of "layers"; the root itself has no parent.
[[nodiscard]] std::string_view parent_of(std::string_view path) {
  const auto dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
}

// Deeper ones and more classes are those of a damaged trace.
constexpr unsigned deepest = 64;
constexpr std::size_t most_types = 64;

// Calls `look` with the module itself and all that it lies in, innermost first, the root last.
template <class Function>
void up_from(std::string_view path, Function&& look) {
  for (unsigned level = 0; level < deepest; ++level) {
    look(path);
    if (path.empty()) return;
    path = parent_of(path);
  }
}

}  // namespace

std::vector<std::string> repeated_types(const blocks::evidence& of) {
  std::map<module_key, std::string_view> types;
  for (const auto& [object, module] : of.modules) {
    types[{module.root, of.names[module.path]}] = of.names[module.type];
  }
  std::map<std::string_view, class_facts> classes;
  for (const auto& [object, module] : of.modules) {
    auto& facts = classes[of.names[module.type]];
    ++facts.modules;
    if (module.checkpointed) facts.checkpointed = true;
    const auto path = of.names[module.path];
    up_from(path, [&, &inner = module](std::string_view above) {
      if (above.size() == path.size()) return;
      const auto known = types.find({inner.root, above});
      if (known == types.end()) return;
      classes[known->second].has_children = true;
      // What runs in a checkpointed module is recomputed already, and what it lies in, mostly.
      if (inner.checkpointed) classes[known->second].checkpointed = true;
    });
  }
  std::vector<std::string> found;
  for (const auto& [type, facts] : classes) {
    const bool container = type == "ModuleList" || type == "ModuleDict";
    if (type.empty() || container || facts.modules < 2 || !facts.has_children) continue;
    if (!facts.checkpointed && found.size() < most_types) found.emplace_back(type);
  }
  return found;
}

module_copies::module_copies(const blocks::evidence& of, std::string_view type) {
  std::map<module_key, std::uint32_t> numbers;
  for (const auto& [object, module] : of.modules) {
    if (of.names[module.type] != type) continue;
    const auto number = static_cast<std::uint32_t>(numbers.size());
    numbers.try_emplace({module.root, of.names[module.path]}, number);
  }
  for (const auto& [object, module] : of.modules) {
    place where;
    up_from(of.names[module.path], [&, root = module.root](std::string_view above) {
      const auto known = numbers.find({root, above});
      if (known != numbers.end()) where.copy = known->second;
    });
    if (where.copy == none) continue;
    where.itself = of.names[module.type] == type;
    places_[object] = where;
  }
}

std::uint32_t module_copies::of(trace::object_id module) const {
  const auto known = places_.find(module);
  return known == places_.end() ? none : known->second.copy;
}

bool module_copies::is_copy_itself(trace::object_id module) const {
  const auto known = places_.find(module);
  return known != places_.end() && known->second.itself;
}

}  // namespace memtrace::advice
