// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/advice/model_parts.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "analyzer/judge/blocks/passes.h"

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
      // A module in a checkpointed one is recomputed already, and mostly so is that around it.
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

using allocator::block_number;
using attribution::category;
using attribution::phase;

namespace {

// The function of torch.optim's foreach form that this stack lies in; empty: in none.
[[nodiscard]] std::string_view foreach_function(const blocks::evidence& of, trace::stack_id stack) {
  for (; stack; stack = of.names[stack].parent) {
    const auto frame = of.names[of.names[stack].innermost];
    const auto function = of.names[frame.function];
    if (!function.starts_with("_multi_tensor_")) continue;
    if (of.names[frame.file].find("torch/optim/") != std::string_view::npos) return function;
  }
  return {};
}

// By stack, since many blocks come from the same.
class foreach_functions {
 public:
  explicit foreach_functions(const blocks::evidence& of) : of_(of) {}
  [[nodiscard]] std::string_view at(trace::stack_id stack) {
    const auto [known, fresh] = known_.try_emplace(stack);
    if (fresh) known->second = foreach_function(of_, stack);
    return known->second;
  }

 private:
  const blocks::evidence& of_;
  std::map<trace::stack_id, std::string_view> known_;
};

[[nodiscard]] std::uint64_t most_at_once(const blocks::evidence& of,
                                         const std::vector<block_number>& blocks) {
  std::vector<std::pair<std::uint64_t, std::int64_t>> changes;
  for (const auto block : blocks) {
    const auto bytes = static_cast<std::int64_t>(bytes_of(of, block));
    changes.emplace_back(birth_event(of, block), bytes);
    changes.emplace_back(death_event(of, block), -bytes);
  }
  std::sort(changes.begin(), changes.end());
  std::int64_t now = 0;
  std::int64_t most = 0;
  for (const auto& [event, bytes] : changes) most = std::max(most, now += bytes);
  return static_cast<std::uint64_t>(most);
}

// Where memory runs out in an optimizer's first step nobody has told the keys of its states yet.
// torch/optim/adam.py makes exp_avg for each parameter, and further down exp_avg_sq.
class adam_lines {
 public:
  explicit adam_lines(const blocks::evidence& of) : of_(of) {
    for (block_number block = 0; block < of.blocks.size(); ++block) {
      if (const auto line = at(of.blocks[block]); line != 0) lines_.insert(line);
    }
  }
  // Empty: it is of another optimizer, or its key was told.
  [[nodiscard]] std::string_view key_of(const blocks::block_facts& facts) const {
    const auto line = at(facts);
    if (line == 0) return {};
    if (line == *lines_.begin()) return "exp_avg";
    return line == *std::next(lines_.begin()) ? "exp_avg_sq" : "max_exp_avg_sq";
  }

 private:
  [[nodiscard]] std::uint32_t at(const blocks::block_facts& facts) const {
    if (facts.what != category::optimizer_states || facts.detail) return 0;
    for (auto stack = facts.stack; stack; stack = of_.names[stack].parent) {
      const auto& frame = of_.names[of_.names[stack].innermost];
      if (of_.names[frame.file].ends_with("torch/optim/adam.py")) return frame.line;
    }
    return 0;
  }

  const blocks::evidence& of_;
  std::set<std::uint32_t> lines_;
};

}  // namespace

optimizer_blocks optimizer_blocks_of(const blocks::evidence& of) {
  foreach_functions forms(of);
  const adam_lines lines(of);
  optimizer_blocks found;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    if (facts.what == category::optimizer_states) {
      const auto key = facts.detail ? of.names[facts.detail] : lines.key_of(facts);
      if (key == "exp_avg") {
        found.first_moments.push_back(block);
      } else if (key == "exp_avg_sq") {
        found.second_moments.push_back(block);
      } else {
        found.other_states.push_back(block);
        continue;
      }
      found.moment_bytes += bytes_of(of, block);
    } else if (facts.born_in == phase::optimizer && facts.what == category::temporaries) {
      const auto form = forms.at(facts.stack);
      if (form.empty()) continue;
      found.temporaries.push_back(block);
      found.form = form;
    }
  }
  found.most_temporary_bytes = most_at_once(of, found.temporaries);
  return found;
}

weight_shapes::weight_shapes(const blocks::evidence& of) {
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    if (facts.what != category::weights || !facts.name) continue;
    weight_shape shape;
    shape.block = block;
    if (facts.element_bits != 0) shape.element_bits = facts.element_bits;
    shape.elements = bytes_of(of, block) * 8 / shape.element_bits;
    const auto product = std::uint64_t{facts.rows} * facts.columns;
    if (facts.dimensions == 2 && product == shape.elements) {
      shape.rows = facts.rows;
      shape.columns = facts.columns;
    }
    auto& known = known_[{facts.root.value, facts.name.value}];
    if (known.rows == 0) known = shape;
  }
}

const weight_shape* weight_shapes::of(const blocks::block_facts& block) const {
  const auto found = known_.find({block.root.value, block.name.value});
  return found == known_.end() ? nullptr : &found->second;
}

namespace {

struct names_of_root {
  std::set<std::string_view> trained;
  std::set<std::string_view> untrained;
};

[[nodiscard]] std::map<trace::object_id, names_of_root> names_by_root(const blocks::evidence& of) {
  std::map<trace::object_id, names_of_root> found;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto facts = of.blocks[block];
    if (!facts.root || !facts.name) continue;
    auto& names = found[facts.root];
    if (facts.in_optimizer) names.trained.insert(of.names[facts.name]);
    if (facts.in_no_optimizer) names.untrained.insert(of.names[facts.name]);
    if (facts.what != category::gradients) continue;
    if (facts.seen_by_optimizer) names.trained.insert(of.names[facts.name]);
    const auto birth = of.log.allocations[block];
    const auto ends = std::ranges::count_if(
        of.step_ends, [&](std::uint32_t end) { return end >= birth && end < facts.free_request; });
    if (ends > 1) names.untrained.insert(of.names[facts.name]);
  }
  for (auto& [root, names] : found) {
    for (const auto name : names.trained) names.untrained.erase(name);
  }
  return found;
}

[[nodiscard]] bool is_inside(std::string_view name, std::string_view path) {
  return path.empty() ||
         (name.starts_with(path) && name.size() > path.size() && name[path.size()] == '.');
}

// The outermost modules around untrained parameters that have no trained one: "image" of
// "image.layer1.0.conv1.weight". A model's own parameters, beside trained ones, are in none.
[[nodiscard]] std::set<std::string_view> outermost(const names_of_root& names) {
  if (names.trained.empty()) return {""};
  std::set<std::string_view> found;
  for (const auto name : names.untrained) {
    for (auto end = name.find('.'); end != name.npos; end = name.find('.', end + 1)) {
      const auto path = name.substr(0, end);
      const bool has_trained = std::ranges::any_of(
          names.trained, [&](std::string_view one) { return is_inside(one, path); });
      if (has_trained) continue;
      found.insert(path);
      break;
    }
  }
  return found;
}

}  // namespace

untrained_parts::untrained_parts(const blocks::evidence& of) : of_(of) {
  const auto names = names_by_root(of);
  const bool trains_models =
      std::ranges::any_of(names, [](const auto& one) { return !one.second.trained.empty(); }) ||
      std::ranges::any_of(of.blocks, &blocks::block_facts::in_optimizer);
  if (!trains_models) return;
  std::map<std::pair<trace::object_id, std::string_view>, trace::object_id>
      modules;  // by root, path
  for (const auto& [module, facts] : of.modules)
    modules[{facts.root, of.names[facts.path]}] = module;
  for (const auto& [root, ones] : names) {
    if (ones.untrained.empty()) continue;
    for (const auto path : outermost(ones)) {
      const auto module = path.empty() ? root : modules[{root, path}];
      if (module) of_root_[root].push_back({path, module});
    }
  }
}

trace::object_id untrained_parts::find(trace::object_id root, std::string_view path) const {
  const auto known = of_root_.find(root);
  if (known == of_root_.end()) return {};
  for (const auto& one : known->second) {
    if (one.path == path || is_inside(path, one.path)) return one.module;
  }
  return {};
}

trace::object_id untrained_parts::part_of(const blocks::block_facts& facts) const {
  if (facts.name) return find(facts.root, of_.names[facts.name]);
  const auto module = of_.modules.find(facts.module);
  if (module == of_.modules.end()) return find(facts.root, {});
  return find(module->second.root, of_.names[module->second.path]);
}

void expect_gradients(const blocks::evidence& of, std::uint64_t event,
                      allocator::request_edits& edits) {
  if (of.attributed.trainable_bytes != of.attributed.parameter_bytes) return;
  for (allocator::block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    if (facts.what == attribution::category::weights && facts.name && !facts.unused_copy) {
      (void)edits.allocate(event, block);
    }
  }
}

}  // namespace memtrace::advice
