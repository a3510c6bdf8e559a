// SPDX-License-Identifier: Apache-2.0
//
// Retainers that are no variables of the training loop: tracebacks, hooks, cycles.
#include <fmt/core.h>

#include <algorithm>

#include "analyzer/judge/advice/remedies/remedies.h"

namespace memtrace::remedies {

namespace {

// OutOfMemoryError of "traceback of OutOfMemoryError"
[[nodiscard]] std::string exception_of(const verdicts::retainer& held_by) {
  constexpr std::string_view start = "traceback of ";
  return held_by.owner.starts_with(start) ? "an " + held_by.owner.substr(start.size())
                                          : std::string("an exception");
}

// A gradient with a graph: only backward(create_graph=True) makes one.
[[nodiscard]] bool gradient_has_graph(const clues& of) {
  return of.kept_by(format::held_gradient) && of.kept_with_graph();
}

// Nothing leads to it, and a backward that recorded a graph made it, or another suspect of the
// same growth.
[[nodiscard]] bool lost_with_graph(const clues& of) {
  return of.kept_by(format::held_unreachable) &&
         std::ranges::any_of(of.about.suspects, [](const verdicts::suspect& who) {
           return std::ranges::any_of(who.retained_by, [](const verdicts::retainer& held_by) {
             constexpr auto graph = format::held_gradient | format::held_has_graph;
             return (held_by.flags & format::held_unreachable) != 0 &&
                    (held_by.recorded_in_backward != 0 || (held_by.flags & graph) == graph);
           });
         });
}

}  // namespace

std::optional<verdicts::remedy> exception_frames(const clues& of) {
  if (!of.kept_by(format::held_traceback)) return std::nullopt;
  verdicts::remedy what;
  const bool is_kept = of.kept_in() || of.held_by->path.find(".__traceback__") != std::string::npos;
  what.id = is_kept ? "kept_error" : "exception_frames";
  what.cause = fmt::format(
      "The traceback of {} keeps the frames of the call that failed, and their local tensors.",
      exception_of(*of.held_by));
  what.change =
      is_kept
          ? fmt::format(
                "Keep `str(error)`, or `error.with_traceback(None)`, instead of the exception in "
                "{}.",
                of.variable())
          : "Leave the `except` block before trying again: set a flag in it, recover after it; and "
            "keep `str(error)` instead of the exception.";
  what.caution = "torch.cuda.empty_cache() inside of the `except` block frees none of it.";
  return what;
}

std::optional<verdicts::remedy> graph_of_gradients(const clues& of) {
  const bool by_graph = of.kept_by(format::held_graph) || of.kept_by(format::held_has_graph);
  // Such a backward pass makes about as much as its forward pass did.
  if (!by_graph || of.held_by->recorded_in_backward == 0 ||
      4 * of.held_by->recorded_in_backward < of.held_by->bytes) {
    return std::nullopt;
  }
  verdicts::remedy what;
  what.id = "graph_of_gradients";
  what.helps_what_fills = true;
  what.cause =
      fmt::format("{} keeps the graphs of gradients that were computed with `create_graph=True`.",
                  of.variable());
  what.change =
      "Leave `create_graph=True` out where nothing differentiates through the gradient; or cut the "
      "graph where the next turn begins, with `detach()` of what it goes on from.";
  what.caution =
      "A second backward pass through the gradients needs that graph: until then it stays.";
  return what;
}

std::optional<verdicts::remedy> hook_keeps(const clues& of) {
  if (!of.kept_by(format::held_hook)) return std::nullopt;
  verdicts::remedy what;
  what.id = "hook_keeps";
  what.cause = fmt::format("A hook keeps what it saw: {}.", of.variable());
  what.change =
      "Register the hook once, keep its handle, and call `handle.remove()` when it has done its "
      "work; let it keep `output.detach().cpu()`, and empty that after each step.";
  what.caution = "Deleting the output in the training loop changes nothing: the hook has its own.";
  return what;
}

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

std::optional<verdicts::remedy> reference_cycle(const clues& of) {
  if (!of.kept_by(format::held_unreachable) || of.lost_in_graph()) return std::nullopt;
  const bool collected = of.about.found.shape == growth::shape::sawtooth ||
                         of.about.found.shape == growth::shape::sawtooth_leak;
  verdicts::remedy what;
  what.id = "reference_cycle";
  what.helps_what_fills = true;
  what.cause = collected ? "No name leads to it, and it goes in bursts: objects that refer to each "
                           "other keep tensors until Python's garbage collector runs."
                         : "No name leads to it: objects that refer to each other, or C++ alone, "
                           "keep it.";
  what.change =
      "Break the cycle: no `self` in closures and callbacks that `self` keeps, `weakref.ref` for "
      "the way back, or set the attribute to None when the object is done.";
  what.caution = collected
                     ? "gc.collect() in each step frees it, but takes time and hides the cycle."
                     : "gc.disable() or gc.freeze() lets such cycles pile up; a cycle through "
                       "autograd's C++ is never collected.";
  return what;
}

}  // namespace memtrace::remedies
