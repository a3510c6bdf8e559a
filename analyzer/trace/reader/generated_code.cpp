// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trace/reader/generated_code.h"

#include <algorithm>
#include <array>
#include <string>

namespace memtrace::trace {

namespace {

constexpr std::uint32_t not_asked = 0;
constexpr std::uint32_t none = 1;
constexpr std::uint32_t first_number = 2;

// Files that PyTorch runs between a generated line and the operator that it calls. Not what tries
// kernels out (torch/_inductor/runtime): what that allocates is no buffer of the line.
[[nodiscard]] bool is_passed_over(std::string_view file) {
  constexpr std::array between = {std::string_view("/torch/_ops.py"),
                                  std::string_view("/torch/_compile.py"),
                                  std::string_view("/torch/_dynamo/eval_frame.py"),
                                  std::string_view("/runtime_wrappers.py"),
                                  std::string_view("/torch/utils/_python_dispatch.py"),
                                  std::string_view("/torch/_prims/rng_prims.py")};
  return std::ranges::any_of(between, [&](auto end) { return file.ends_with(end); }) ||
         file.find("/torch/_higher_order_ops/") != std::string_view::npos;
}

// "attn.c_attn" of "h.0.attn.c_attn" below "h.0"; false: it is not below.
[[nodiscard]] bool way_down(std::string_view from, std::string_view to, std::string_view& way) {
  if (from.empty() || from == to) {
    way = to.substr(from.size());
    return true;
  }
  if (!to.starts_with(from) || to[from.size()] != '.') return false;
  way = to.substr(from.size() + 1);
  return true;
}

}  // namespace

void generated_code::learn(const storage_event& row) {
  if (rows_ >= max_rows || !row.source) return;
  ++rows_;
  const bool further = (row.flags & format::generated_further) != 0;
  const auto [line, is_new] =
      lines_.try_emplace(key(row.file, row.line), static_cast<line_number>(compilations_.size()));
  if (is_new) {
    compilations_.emplace_back();
    of_stack_.clear();
  }
  auto& known = compilations_[line->second];
  const source one{row.source, row.object};
  if (further) {
    if (!known.empty()) known.back().sources.push_back(one);
    return;
  }
  // The latest compilation is the last; one for the same module takes the place of its predecessor.
  std::erase_if(known, [&](const compilation& other) { return other.owner == row.owner; });
  known.push_back({row.owner, (row.flags & format::generated_backward) != 0, {one}});
}

void generated_code::learn(const module_event& named) {
  const module_place place{named.root, names_[named.path]};
  places_[named.object] = place;
  modules_[place] = named.object;
}

// The line that allocates, or that called the operator which does.
generated_code::line_number generated_code::find_line(stack_id stack) const {
  while (stack) {
    const auto node = names_[stack];
    const auto frame = names_[node.innermost];
    const auto found = lines_.find(key(frame.file, frame.line));
    if (found != lines_.end()) return found->second + first_number;
    if (!is_passed_over(names_[frame.file])) return none;
    stack = node.parent;
  }
  return none;
}

generated_code::line_number generated_code::line_of(stack_id stack) {
  if (stack.value >= of_stack_.size()) {
    of_stack_.resize(std::max<std::size_t>(names_.stacks() + 1, stack.value + std::size_t{1}));
  }
  auto& known = of_stack_[stack.value];
  if (known == not_asked) known = find_line(stack);
  return known;
}

const generated_code::compilation& generated_code::chosen(line_number line,
                                                          const scope& where) const {
  const auto& known = compilations_[line];
  const auto own = std::ranges::find_if(known, [&](const compilation& made) {
    return made.owner && (made.owner == where.module || made.owner == where.root);
  });
  return own != known.end() ? *own : known.back();
}

// The code may run for another module than the one that it was compiled for: below that one, it is
// the module of the same name.
object_id generated_code::module_of(const compilation& made, object_id running) const {
  const auto module = made.sources.front().module;
  if (!module || module == made.owner) return running ? running : module;
  if (!made.owner || !running || running == made.owner) return module;
  const auto of_module = places_.find(module);
  const auto of_owner = places_.find(made.owner);
  const auto of_running = places_.find(running);
  if (of_module == places_.end() || of_owner == places_.end() || of_running == places_.end() ||
      of_module->second.root != of_owner->second.root) {
    return module;
  }
  std::string_view way;
  if (!way_down(of_owner->second.path, of_module->second.path, way)) return module;
  std::string path(of_running->second.path);
  if (!path.empty() && !way.empty()) path += '.';
  path += way;
  const auto found = modules_.find({of_running->second.root, path});
  return found == modules_.end() ? module : found->second;
}

stack_id generated_code::on_top_of(stack_id outer, const compilation& made) {
  const auto lines = made.sources.front().lines;
  const auto [known, is_new] = shown_.try_emplace({outer, lines});
  if (!is_new) return known->second;
  std::vector<frame_id> frames;  // innermost first
  for (auto node = names_[lines]; node.innermost; node = names_[node.parent]) {
    frames.push_back(node.innermost);
  }
  auto shown = outer;
  for (auto frame = frames.rbegin(); frame != frames.rend() && shown.value != 0xffffffffu;
       ++frame) {
    const auto next = names_.add_stack(shown, *frame);
    if (!next) break;  // too deep, or too many
    shown = next;
  }
  return known->second = shown;
}

void generated_code::put(scope& where, stack_id& stack) {
  const auto found = line_of(stack);
  if (found == none) return;
  const auto& made = chosen(found - first_number, where);
  where.module = module_of(made, where.module);
  // The frames around the generated line: its own stands for the program's.
  auto outer = stack;
  for (bool inside = true; inside && outer;) {
    const auto node = names_[outer];
    const auto frame = names_[node.innermost];
    inside = !lines_.contains(key(frame.file, frame.line));
    outer = node.parent;
  }
  if (where.in_backward() && made.backward) {
    where.forward = made.sources.front().lines;
    stack = outer;
    note_fused(made, where.forward);
  } else {
    stack = on_top_of(outer, made);
    note_fused(made, stack);
  }
}

void generated_code::note_fused(const compilation& made, stack_id shown) {
  for (const auto& other : made.sources) {
    if (other.lines != made.sources.front().lines) names_.fuse(shown, other.lines);
  }
}

}  // namespace memtrace::trace
