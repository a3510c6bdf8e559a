// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/advice/forward_calls.h"

#include <string_view>

#include "analyzer/judge/advice/passes.h"

namespace memtrace::advice {

using allocator::block_number;
using attribution::phase;

namespace {

// A stretch of blocks that one module makes without another in between.
struct stretch {
  block_number first = 0;
  std::uint64_t begin = 0;
  std::uint32_t call = 0;
  trace::object_id module;
};

[[nodiscard]] bool in_forward(const blocks::block_facts& block) {
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
  course(const blocks::evidence& of, const std::vector<stretch>& stretches)
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

  const blocks::evidence& of_;
  const std::vector<stretch>& stretches_;
};

}  // namespace

std::vector<std::uint64_t> ends_of_use_in_forward(const blocks::evidence& of) {
  std::vector<stretch> stretches;
  std::vector<std::uint32_t> stretch_of(of.blocks.size(), blocks::never);
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
    if (stretch_of[block] != blocks::never) ends[block] = end_of[stretch_of[block]];
  }
  return ends;
}

}  // namespace memtrace::advice
