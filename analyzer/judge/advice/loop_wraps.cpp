// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/advice/loop_wraps.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "analyzer/judge/advice/passes.h"
#include "analyzer/trace/code/frames.h"

namespace memtrace::advice {

using allocator::block_number;

namespace {

using function_key = std::pair<std::uint32_t, std::uint32_t>;  // texts of file and name

struct code_place {
  function_key function;
  std::uint32_t line = 0;  // 0: not known
};

// The innermost function outside of modules that is the program's, or a library's that runs the
// program's loop.
class place_finder {
 public:
  explicit place_finder(const blocks::evidence& of) : of_(of) {}

  [[nodiscard]] code_place find(trace::stack_id stack) {
    const auto [known, fresh] = places_.try_emplace(stack.value);
    if (fresh) known->second = look_up(stack);
    return known->second;
  }

 private:
  enum class owner : std::uint8_t { program, module_call, torch };

  [[nodiscard]] code_place look_up(trace::stack_id stack) {
    code_place found;
    while (stack) {
      const auto node = of_.names[stack];
      const auto frame = of_.names[node.innermost];
      const auto whose = owner_of(frame.file);
      if (whose == owner::module_call) found = {};  // what is further in is a module's
      if (whose == owner::program && found.line == 0) {
        found = {{frame.file.value, frame.function.value}, frame.line};
      }
      stack = node.parent;
    }
    return found;
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

  const blocks::evidence& of_;
  std::unordered_map<std::uint32_t, code_place> places_;  // by stack
  std::unordered_map<std::uint32_t, owner> owners_;       // by file
};

struct return_to {
  std::uint64_t event = 0;
  std::uint32_t line = 0;
};

// Of one function, from the end of the run backwards: the nearest is last, and each is further up
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

std::vector<loop_turns> turns_of_loops(const blocks::evidence& of) {
  place_finder places(of);
  std::map<function_key, std::uint32_t> lines;  // that ran last
  std::vector<bool> goes_back(of.blocks.size(), false);
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto place = places.find(of.blocks[block].stack);
    if (place.line == 0) continue;
    auto& line = lines[place.function];
    goes_back[block] = place.line < line;
    line = place.line;
  }
  const auto never_over = end_event(of);
  std::map<function_key, returns_ahead> ahead;
  std::vector<loop_turns> turns(of.blocks.size(), {never_over, never_over});
  // What follows a turn's end in the same function, by that event and the line asked for.
  std::unordered_map<std::uint64_t, std::uint64_t> after;
  for (auto block = static_cast<block_number>(of.blocks.size()); block-- > 0;) {
    const auto place = places.find(of.blocks[block].stack);
    if (place.line == 0) continue;
    auto& returns = ahead[place.function];
    auto& found = turns[block];
    found.over = returns.nearest(place.line, never_over);
    const auto next = after.find(found.over);
    found.next_over = next == after.end() ? never_over : next->second;
    if (!goes_back[block]) continue;
    const auto event = birth_event(of, block);
    after[event] = returns.nearest(place.line, never_over);
    returns.meet({event, place.line});
  }
  return turns;
}

}  // namespace memtrace::advice
