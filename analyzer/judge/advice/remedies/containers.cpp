// SPDX-License-Identifier: Apache-2.0
//
// A container without a bound.
#include <fmt/core.h>

#include "analyzer/judge/advice/remedies/remedies.h"
#include "analyzer/judge/verdicts/retainer_words.h"

namespace memtrace::remedies {

namespace {

[[nodiscard]] bool is_metric(const clues& of) {
  return of.passes_through("/torchmetrics/") || of.passes_through("/torcheval/");
}

[[nodiscard]] bool is_cache(const clues& of) {
  // What the program puts under keys and asks for none of while it does, are results. A function that
  // caches is asked by calls of it.
  const bool of_function = of.kept_in({"lru_cache", "_lru_cache_wrapper"});
  const bool is_no_cache = of.held_by != nullptr && of.held_by->is_no_cache && !of_function;
  if (is_no_cache || of.kept_by(format::held_statement)) return false;
  if (of.who.what == attribution::category::optimizer_states) return false;  // its own dictionary
  // Models that nobody calls again are results: of a search, one for each of its settings.
  const bool comes_back = of.who.modules_run || of.who.modules_take_turns;
  if (of.who.what == attribution::category::weights && !comes_back) return false;
  const bool of_parameters = of.kept_by(format::held_gradient);
  if (of.who.what == attribution::category::gradients && of_parameters) return false;
  return of.kept_in({"dict", "OrderedDict", "defaultdict", "lru_cache", "_lru_cache_wrapper",
                     "Counter", "ChainMap", "WeakKeyDictionary"});
}

[[nodiscard]] bool is_queue(const clues& of) {
  // queue.Queue keeps its elements in a deque of its own.
  return of.kept_in({"SimpleQueue"}) ||
         (of.held_by != nullptr && of.held_by->holder.ends_with("Queue"));
}

}  // namespace

std::optional<verdicts::remedy> metric_state(const clues& of) {
  if (!is_metric(of) || of.kept_with_graph()) return std::nullopt;
  verdicts::remedy what;
  what.id = "metric_state";
  what.cause = fmt::format("A metric keeps every batch that it was given{}.",
                           of.held_by == nullptr ? "" : " in " + of.variable());
  what.change =
      "Call its `reset()` at the end of each epoch or evaluation; where the state is a list, use "
      "a metric whose state has a fixed size (binned thresholds), or keep it on the CPU "
      "(torchmetrics: `compute_on_cpu=True`).";
  what.caution = "`compute()` alone resets nothing.";
  return what;
}

std::optional<verdicts::remedy> kept_view(const clues& of) {
  if (!of.kept_by(format::held_view)) return std::nullopt;
  verdicts::remedy what;
  what.id = "kept_view";
  what.cause = fmt::format(
      "{} keeps views that use less than half of their storage: each keeps the whole tensor that "
      "it was cut from.",
      of.variable());
  what.change = fmt::format(
      "Copy what is kept{}: `x[i].clone()`, or `x[i].cpu()` where the GPU does not need it any "
      "more.",
      of.also_kept());
  if (!of.kept_by(format::held_statement)) {
    what.change += fmt::format(
        " Copies are smaller, but {} still grows: use them batch by batch, or `clear()` it.",
        of.variable());
  }
  what.caution = "`detach()`, `contiguous()` of a part that already is, and `del x` copy nothing.";
  return what;
}

std::optional<verdicts::remedy> unbounded_cache(const clues& of) {
  if (!is_cache(of) || of.kept_by(format::held_bounded)) return std::nullopt;
  const bool function = of.kept_in({"lru_cache", "_lru_cache_wrapper"});
  verdicts::remedy what;
  what.id = "unbounded_cache";
  what.cause = fmt::format("{} has no limit: it gets new keys and never loses one.", of.variable());
  what.change = function ? "Give it a limit (`lru_cache(maxsize=…)`), or call its `cache_clear()`; "
                           "better, do not cache tensors on the GPU."
                         : "Bound it: drop the oldest entries (`OrderedDict.popitem(last=False)`), "
                           "`del` a key when it has been used, or keep the values on the CPU.";
  what.caution =
      "A key that never comes again (a tensor, an id, a step) makes a cache useless at any size.";
  return what;
}

std::optional<verdicts::remedy> unbounded_queue(const clues& of) {
  if (!is_queue(of) || of.kept_by(format::held_bounded)) return std::nullopt;
  verdicts::remedy what;
  what.id = "unbounded_queue";
  what.cause = fmt::format("{} is filled faster than it is emptied.", of.variable());
  what.change =
      "Bound it (`Queue(maxsize=…)` makes the producer wait), and let it carry CPU tensors.";
  return what;
}

std::optional<verdicts::remedy> unbounded_deque(const clues& of) {
  if (!of.kept_in({"deque"}) || of.kept_by(format::held_bounded)) return std::nullopt;
  verdicts::remedy what;
  what.id = "unbounded_deque";
  what.cause = fmt::format("{} is a deque without a limit.", of.variable());
  what.change = fmt::format("Give it one, so that the oldest elements go: `{} = deque(maxlen=…)`.",
                            verdicts::variable_of(*of.held_by));
  return what;
}

}  // namespace memtrace::remedies
