// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedies/kinds.h"

namespace memtrace::remedies {

namespace {

// A gradient with a graph: only backward(create_graph=True) makes one.
[[nodiscard]] bool gradient_has_graph(const clues& of) {
  return of.kept_by(format::held_gradient) && of.kept_with_graph();
}

// Made in a backward pass that recorded a graph itself, and no name leads to it.
[[nodiscard]] bool lost_in_double_backward(const clues& of) {
  return of.kept_by(format::held_unreachable) && of.who.forward &&
         of.who.what != attribution::category::gradients && of.kept_with_graph();
}

}  // namespace

std::optional<verdicts::remedy> create_graph_cycle(const clues& of) {
  if (!gradient_has_graph(of) && !lost_in_double_backward(of)) return std::nullopt;
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
