// SPDX-License-Identifier: Apache-2.0
//
// Parameters of modules that never ran: their weights, and where something gives them gradients,
// those and the optimizer's states.
#include <fmt/core.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/judge/advice/pieces.h"
#include "analyzer/judge/advice/program_words.h"
#include "analyzer/judge/blocks/passes.h"

namespace memtrace::advice {

using allocator::block_number;
using attribution::category;

namespace {

[[nodiscard]] std::string_view parent_of(std::string_view path) {
  const auto dot = path.rfind('.');
  return dot == path.npos ? std::string_view() : path.substr(0, dot);
}

// Modules in whose calls memory was asked for, by root; each with parameters that runs does.
class called_modules {
 public:
  explicit called_modules(const blocks::evidence& of) {
    std::set<trace::object_id> objects;
    for (const auto& facts : of.blocks) {
      if (facts.module && objects.insert(facts.module).second) add(of, facts.module);
    }
  }
  // Itself or one that it is in, the model apart: a module can use its children's weights without
  // calling them.
  [[nodiscard]] bool ran(trace::object_id root, std::string_view path) const {
    for (; !path.empty(); path = parent_of(path)) {
      if (paths_.contains({root.value, std::string(path)})) return true;
    }
    return false;
  }
  // It, or one within it.
  [[nodiscard]] bool ran_within(trace::object_id root, std::string_view path) const {
    if (paths_.contains({root.value, std::string(path)})) return true;
    const auto below = std::string(path) + '.';
    const auto next = paths_.lower_bound({root.value, below});
    return next != paths_.end() && next->first == root.value && next->second.starts_with(below);
  }

 private:
  void add(const blocks::evidence& of, trace::object_id module) {
    const auto known = of.modules.find(module);
    if (known == of.modules.end()) return;
    paths_.insert({known->second.root.value, std::string(of.names[known->second.path])});
  }

  std::set<std::pair<std::uint32_t, std::string>> paths_;
};

struct unused {
  std::vector<block_number> blocks;
  std::set<std::string> modules;  // the outermost
  std::uint64_t weights = 0;
  std::uint64_t others = 0;
};

[[nodiscard]] bool belongs_to_a_parameter(const blocks::block_facts& facts) {
  return facts.name && facts.root &&
         (facts.what == category::weights || facts.what == category::gradients ||
          facts.what == category::optimizer_states);
}

// In compiled models no module is known but the model itself: roots without a parameter in a module
// that ran are left out.
[[nodiscard]] std::set<std::uint32_t> roots_with_modules(const blocks::evidence& of,
                                                         const called_modules& called) {
  std::set<std::uint32_t> found;
  for (const auto& facts : of.blocks) {
    if (facts.what != category::weights || facts.unused_copy) continue;
    if (!belongs_to_a_parameter(facts)) continue;
    if (called.ran(facts.root, parent_of(of.names[facts.name]))) found.insert(facts.root.value);
  }
  return found;
}

// Whether autograd has given parameters a gradient, and whether they ask for one.
class gradients_given {
 public:
  explicit gradients_given(const blocks::evidence& of) {
    for (const auto& facts : of.blocks) {
      if (facts.what != category::gradients) continue;
      has_one_.insert({facts.root.value, facts.name.value});
      if (facts.born_in != attribution::phase::backward || !facts.name) continue;
      const auto module = parent_of(of.names[facts.name]);
      used_.insert({facts.root.value, std::string(module)});
    }
    for (const auto& [number, device] : of.attributed.devices) {
      for (const auto& row : device.parameters) {
        (row.trainable ? trainable_ : frozen_).insert(row.name);
      }
    }
  }
  // A backward pass made one for a parameter of this module: something computes with it.
  [[nodiscard]] bool to_module(trace::object_id root, std::string_view module) const {
    return used_.contains({root.value, std::string(module)});
  }
  [[nodiscard]] bool lacks(const blocks::block_facts& facts, std::string_view name) const {
    const std::string text(name);
    return trainable_.contains(text) && !frozen_.contains(text) &&
           !has_one_.contains({facts.root.value, facts.name.value});
  }

 private:
  std::set<std::pair<std::uint32_t, std::uint32_t>> has_one_;  // by root and name
  std::set<std::pair<std::uint32_t, std::string>> used_;       // by root and path
  std::set<std::string> trainable_;
  std::set<std::string> frozen_;
};

// The outermost of the modules around it in which none ran.
[[nodiscard]] std::string_view outermost(const called_modules& called, trace::object_id root,
                                         std::string_view module) {
  for (auto around = parent_of(module); !around.empty() && !called.ran_within(root, around);
       around = parent_of(module)) {
    module = around;
  }
  return module;
}

[[nodiscard]] unused find(const blocks::evidence& of) {
  const called_modules called(of);
  const auto roots = roots_with_modules(of, called);
  const gradients_given given(of);
  unused found;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    if (!belongs_to_a_parameter(facts) || facts.unused_copy || facts.kept_by_autograd) continue;
    if (!roots.contains(facts.root.value)) continue;
    const auto name = of.names[facts.name];
    const auto module = parent_of(name);
    if (module.empty() || called.ran(facts.root, module)) continue;
    // Others can use its weights, F.linear(x, self.head.weight), and autograd gives them gradients
    // then; the model itself is likeliest to.
    if (given.to_module(facts.root, module)) continue;
    if (parent_of(module).empty() && !given.lacks(facts, name)) continue;
    found.blocks.push_back(block);
    found.modules.insert(std::string(outermost(called, facts.root, module)));
    (facts.what == category::weights ? found.weights : found.others) += bytes_of(of, block);
  }
  return found;
}

[[nodiscard]] std::string list_of(const std::set<std::string>& names) {
  constexpr std::size_t most = 4;
  std::string list;
  std::size_t shown = 0;
  for (const auto& name : names) {
    if (shown++ == most) return list + ", …";
    list += (list.empty() ? "" : ", ") + name;
  }
  return list;
}

// Where nothing trains, no graph says which weights were read: engines apply a module's weights
// without calling it, and some modules ask for no memory when they are called.
[[nodiscard]] bool trains(const blocks::evidence& of) {
  return !passes_of(of).training.empty();
}

}  // namespace

proposals unused_parameters(const blocks::evidence& of) {
  if (!trains(of)) return {};
  const auto found = find(of);
  if (found.blocks.empty()) return {};
  proposal made;
  made.id = "unused_parameters";
  made.title = "Modules that never run hold weights on the GPU";
  made.change = fmt::format(
      "leave {} out of the model (del model.…), or off the GPU and out of the optimizer",
      list_of(found.modules));
  made.evidence =
      fmt::format("{} of weights in modules without a call", bytes_in_words(found.weights));
  made.about = {found.weights + found.others, "belong to modules that never run"};
  if (found.others != 0) {
    made.evidence +=
        fmt::format(", {} of gradients and states made for them", bytes_in_words(found.others));
  }
  made.free = true;
  made.cost = "none known; a checkpoint without them";
  made.not_when = "they run in parts of the program that this run did not reach";
  made.how = proof::replayed;
  made.device = of.log.device;
  made.rewrite = [blocks = found.blocks](allocator::request_log& log) {
    request_edits edits;
    for (const auto block : blocks) edits.drop(block);
    edits.apply(log);
  };
  return {std::move(made)};
}

}  // namespace memtrace::advice
