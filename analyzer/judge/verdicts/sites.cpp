// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/sites.h"

#include "analyzer/trace/code/frames.h"

namespace memtrace::verdicts {

namespace {

constexpr std::size_t frames_of_a_site = 2;
// Where a key says the thread: no thread has these numbers.
constexpr std::uint32_t made_for_a_gradient = UINT32_MAX;
constexpr std::uint32_t made_for_a_graph = UINT32_MAX - 1;

enum class whose : std::uint8_t { user, machine_code, model_library, torch };

[[nodiscard]] whose owner_of(std::string_view file, std::uint32_t line) {
  // Without a line: whoever calls it says more.
  if (code::is_user_code(file)) return line == 0 ? whose::machine_code : whose::user;
  return code::is_model_library(file) ? whose::model_library : whose::torch;
}

}  // namespace

std::uint32_t site_names::number_of(const key& frames) {
  return numbers_.emplace(frames, static_cast<std::uint32_t>(numbers_.size())).first->second;
}

// The innermost frames of the user, with a line if there are some; where there are none, of a library
// that builds on PyTorch; where there are none of these either, just the innermost.
site_names::place site_names::learn(trace::stack_id stack) {
  std::array<key, 4> candidates{};
  std::array<std::size_t, 4> found{};
  const auto take = [&](whose owner, const trace::frame& frame) {
    const auto which = static_cast<std::size_t>(owner);
    if (found[which] == frames_of_a_site) return;
    const auto at = 3 * found[which]++;
    candidates[which][at] = frame.file.value;
    candidates[which][at + 1] = frame.function.value;
    candidates[which][at + 2] = frame.line;
  };
  for (auto at = stack; at; at = names_[at].parent) {
    const auto frame = names_[names_[at].innermost];
    take(owner_of(names_[frame.file], frame.line), frame);
    if (found[0] == frames_of_a_site) break;
  }
  std::size_t best = 0;
  while (best < 3 && found[best] == 0) ++best;
  auto of_gradients = candidates[best];
  of_gradients.back() = made_for_a_gradient;
  auto of_graphs = candidates[best];
  of_graphs.back() = made_for_a_graph;
  return {true, best < 2, number_of(candidates[best]), number_of(of_gradients),
          number_of(of_graphs)};
}

const site_names::place& site_names::of_stack(trace::stack_id stack) {
  if (stack.value >= by_stack_.size()) by_stack_.resize(stack.value + std::size_t{1});
  if (!by_stack_[stack.value].known) by_stack_[stack.value] = learn(stack);
  return by_stack_[stack.value];
}

std::uint32_t site_names::of(const attribution::block_life& block) {
  if (block.stack && block.born.captured) return of_stack(block.stack).of_graphs;
  if (block.stack) {
    const auto& own = of_stack(block.stack);
    if (own.user || !block.scope.forward) return own.site;
  }
  if (block.scope.forward) return of_stack(block.scope.forward).of_gradients;
  if (block.thread.value >= by_thread_.size())
    by_thread_.resize(block.thread.value + std::size_t{1});
  auto& thread = by_thread_[block.thread.value];
  if (!thread.known) {
    const auto own = number_of({0, 0, 0, 0, 0, 0, block.thread.value + 1});
    thread = {true, false, own, own, own};
  }
  return thread.site;
}

}  // namespace memtrace::verdicts
