// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/blocks/last_uses.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analyzer/judge/blocks/passes.h"
#include "analyzer/trace/code/frames.h"

namespace memtrace::blocks {

using allocator::block_number;
using attribution::phase;

namespace {

constexpr std::size_t most_functions_around = 32;  // that are looked at, of a stack

// A stretch of blocks that one module makes without another in between.
struct stretch {
  block_number first = 0;
  std::uint64_t begin = 0;
  std::uint32_t call = 0;
  trace::object_id module;
};

[[nodiscard]] bool in_forward(const block_facts& block) {
  return (block.born_in == phase::forward || block.born_in == phase::evaluation) &&
         !block.recomputed;
}

// "layers.3" of "layers.3.attention.query" below "layers"; empty: it is not below.
[[nodiscard]] std::string_view child_of(std::string_view parent, std::string_view path) {
  if (!parent.empty()) {
    if (!path.starts_with(parent) || path.size() <= parent.size() || path[parent.size()] != '.') {
      return {};
    }
  }
  return path.substr(0, path.find('.', parent.empty() ? 0 : parent.size() + 1));
}

[[nodiscard]] std::string_view parent_of(std::string_view path) {
  const auto dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
}

[[nodiscard]] bool is_within(std::string_view path, std::string_view module) {
  return path == module || !child_of(module, path).empty();
}

class course {
 public:
  course(const evidence& of, const std::vector<stretch>& stretches)
      : of_(of), stretches_(stretches) {}

  // Who uses what a module made is the next one to run: as an argument of the call that leads to
  // it, from the module's own forward or from that of the one around it. Until that call returns.
  [[nodiscard]] std::uint64_t end_of_use(std::size_t made_in) const {
    const auto user = made_in + 1;
    if (!same_call(made_in, user)) return 0;
    const auto maker = path_of(made_in);
    const auto next = path_of(user);
    auto called = child_of(maker, next);
    if (called.empty() && maker != next) called = child_of(parent_of(maker), next);
    auto end = user + 1;
    if (!called.empty()) {
      while (same_call(made_in, end) && is_within(path_of(end), called)) ++end;
    }
    return same_call(made_in, end) ? stretches_[end].begin : 0;
  }

 private:
  [[nodiscard]] bool same_call(std::size_t one, std::size_t other) const {
    return other < stretches_.size() && stretches_[one].call == stretches_[other].call;
  }
  [[nodiscard]] std::string_view path_of(std::size_t index) const {
    const auto known = of_.modules.find(stretches_[index].module);
    return known == of_.modules.end() ? std::string_view() : of_.names[known->second.path];
  }

  const evidence& of_;
  const std::vector<stretch>& stretches_;
};

}  // namespace

std::vector<std::uint64_t> ends_of_use_in_forward(const evidence& of) {
  std::vector<stretch> stretches;
  std::vector<std::uint32_t> stretch_of(of.blocks.size(), never);
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    if (!in_forward(facts)) continue;
    const bool goes_on = !stretches.empty() && stretches.back().call == facts.call &&
                         stretches.back().module == facts.module;
    if (!goes_on) stretches.push_back({block, birth_event(of, block), facts.call, facts.module});
    stretch_of[block] = static_cast<std::uint32_t>(stretches.size() - 1);
  }
  const course running(of, stretches);
  std::vector<std::uint64_t> end_of(stretches.size());
  for (std::size_t i = 0; i < stretches.size(); ++i) end_of[i] = running.end_of_use(i);
  std::vector<std::uint64_t> ends(of.blocks.size(), 0);
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    if (stretch_of[block] != never) ends[block] = end_of[stretch_of[block]];
  }
  return ends;
}

namespace {

struct code_place {
  std::uint32_t function = 0;  // numbered from 0
  std::uint32_t line = 0;
};

// Functions outside of modules that are the program's, or a library's that runs the program's loop,
// the innermost first, each where it runs innermost.
class place_finder {
 public:
  explicit place_finder(const evidence& of) : of_(of) {}

  // Valid as long as this one is.
  [[nodiscard]] const std::vector<code_place>& find(trace::stack_id stack) {
    const auto [known, fresh] = places_.try_emplace(stack.value);
    if (fresh) known->second = look_up(stack);
    return known->second;
  }
  [[nodiscard]] std::size_t functions() const { return functions_.size(); }

 private:
  enum class owner : std::uint8_t { program, module_call, torch };

  [[nodiscard]] std::vector<code_place> look_up(trace::stack_id stack) {
    std::vector<code_place> found;
    while (stack && found.size() < most_functions_around) {
      const auto node = of_.names[stack];
      const auto frame = of_.names[node.innermost];
      const auto whose = owner_of(frame.file);
      if (whose == owner::module_call) found.clear();  // what is further in is a module's
      if (whose == owner::program) add(frame, found);
      stack = node.parent;
    }
    return found;
  }

  void add(const trace::frame& frame, std::vector<code_place>& to) {
    const auto [known, fresh] =
        functions_.try_emplace({frame.file.value, frame.function.value}, functions_.size());
    const auto number = static_cast<std::uint32_t>(known->second);
    const bool is_there =
        std::ranges::any_of(to, [&](const code_place& inner) { return inner.function == number; });
    if (!is_there && frame.line != 0) to.push_back({number, frame.line});
  }

  [[nodiscard]] owner owner_of(trace::text_id file) {
    const auto [known, fresh] = owners_.try_emplace(file.value, owner::torch);
    if (!fresh) return known->second;
    const auto path = of_.names[file];
    if (path.ends_with("torch/nn/modules/module.py")) {
      known->second = owner::module_call;
    } else if (code::is_user_code(path) || code::is_model_library(path)) {
      known->second = owner::program;
    }
    return known->second;
  }

  const evidence& of_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t>
      functions_;                                                      // by texts of file, name
  std::unordered_map<std::uint32_t, std::vector<code_place>> places_;  // by stack
  std::unordered_map<std::uint32_t, owner> owners_;                    // by file
};

struct return_to {
  std::uint64_t event = 0;
  std::uint32_t line = 0;
};

// Returns of one function, from the end of the run backwards: the nearest is last, each further up
// than the ones after it, which come sooner.
class returns_ahead {
 public:
  void meet(return_to one) {
    while (!ahead_.empty() && ahead_.back().line >= one.line) ahead_.pop_back();
    ahead_.push_back(one);
  }
  // The nearest to this line or above; its event, or `otherwise`.
  [[nodiscard]] std::uint64_t nearest(std::uint32_t line, std::uint64_t otherwise) const {
    const auto past = std::upper_bound(
        ahead_.begin(), ahead_.end(), line,
        [](std::uint32_t wanted, const return_to& one) { return wanted < one.line; });
    return past == ahead_.begin() ? otherwise : std::prev(past)->event;
  }

 private:
  std::vector<return_to> ahead_;
};

}  // namespace

std::vector<loop_turns> turns_of_loops(const evidence& of) {
  place_finder places(of);
  std::vector<std::uint32_t> lines;  // that ran last, of each function
  // A bit for each of a block's places: the function was further down before.
  std::vector<std::uint32_t> goes_back(of.blocks.size(), 0);
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& around = places.find(of.blocks[block].stack);
    lines.resize(places.functions());
    for (std::size_t i = 0; i < around.size(); ++i) {
      auto& line = lines[around[i].function];
      if (around[i].line < line) goes_back[block] |= 1u << i;
      line = around[i].line;
    }
  }
  const auto never_over = end_event(of);
  std::vector<returns_ahead> ahead(places.functions());
  std::vector<loop_turns> turns(of.blocks.size(), {never_over, never_over});
  // The next return after a turn's end in the same function, by that event.
  std::unordered_map<std::uint64_t, std::uint64_t> after;
  for (auto block = static_cast<block_number>(of.blocks.size()); block-- > 0;) {
    const auto& around = places.find(of.blocks[block].stack);
    auto& found = turns[block];
    for (const auto& place : around) {
      found.over = std::min(found.over, ahead[place.function].nearest(place.line, never_over));
    }
    const auto next = after.find(found.over);
    found.next_over = next == after.end() ? never_over : next->second;
    const auto event = birth_event(of, block);
    for (std::size_t i = 0; i < around.size(); ++i) {
      if ((goes_back[block] >> i & 1u) == 0) continue;
      auto& returns = ahead[around[i].function];
      const auto again = returns.nearest(around[i].line, never_over);
      const auto [known, fresh] = after.try_emplace(event, again);
      if (!fresh) known->second = std::min(known->second, again);
      returns.meet({event, around[i].line});
    }
  }
  return turns;
}

std::vector<loop_turns> turns_of_calls(const evidence& of) {
  struct calls_of_root {
    std::uint32_t call = 0;
    std::uint64_t begin = 0;  // event, of its first block that was met
    loop_turns after;         // beginnings of the calls after it
  };
  const auto never_over = end_event(of);
  std::map<trace::object_id, calls_of_root> roots;
  std::vector<loop_turns> turns(of.blocks.size(), {never_over, never_over});
  for (auto block = static_cast<block_number>(of.blocks.size()); block-- > 0;) {
    const auto facts = of.blocks[block];
    if (facts.call == 0) continue;
    const calls_of_root last{facts.call, never_over, {never_over, never_over}};
    auto& root = roots.try_emplace(facts.root, last).first->second;
    if (root.call != facts.call) root = {facts.call, never_over, {root.begin, root.after.over}};
    root.begin = birth_event(of, block);
    turns[block] = root.after;
  }
  return turns;
}

}  // namespace memtrace::blocks
