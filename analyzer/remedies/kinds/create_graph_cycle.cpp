// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "analyzer/remedies/kinds.h"

namespace memtrace::remedies {

namespace {

// A gradient with a graph: only backward(create_graph=True) makes one.
[[nodiscard]] bool gradient_has_graph(const clues& of) {
  return of.kept_by(format::held_gradient) && of.kept_with_graph();
}

// Nothing leads to it, and a backward that recorded a graph made it, or another culprit of the
// same growth.
[[nodiscard]] bool lost_with_graph(const clues& of) {
  return of.kept_by(format::held_unreachable) &&
         std::ranges::any_of(of.about.culprits, [](const verdicts::culprit& who) {
           return std::ranges::any_of(who.retained_by, [](const verdicts::retainer& keeper) {
             constexpr auto graph = format::held_gradient | format::held_has_graph;
             return (keeper.flags & format::held_unreachable) != 0 &&
                    (keeper.recorded_in_backward != 0 || (keeper.flags & graph) == graph);
           });
         });
}

}  // namespace

std::optional<verdicts::remedy> create_graph_cycle(const clues& of) {
  if (!gradient_has_graph(of) && !lost_with_graph(of)) return std::nullopt;
  verdicts::remedy what;
  what.id = "create_graph_cycle";
  what.cause =
      std::string(gradient_has_graph(of) ? "" : "Probably ") +
      "`backward(create_graph=True)` leaves gradients in `.grad` that have a graph, and that graph "
      "refers to the parameters: a cycle through C++.";
  what.change =
      "Use `torch.autograd.grad(loss, parameters, create_graph=True)`, or set `p.grad = None` for "
      "every parameter after each step.";
  what.caution = "Python's gc cannot see this cycle: gc.collect() and empty_cache() free nothing.";
  return what;
}

}  // namespace memtrace::remedies
