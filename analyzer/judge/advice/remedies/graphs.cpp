// SPDX-License-Identifier: Apache-2.0
//
// Growth of autograd's memory: results that are kept with the graphs that made them.
#include <fmt/core.h>

#include "analyzer/judge/advice/remedies/remedies.h"
#include "analyzer/judge/verdicts/retainer_words.h"

namespace memtrace::remedies {

std::optional<verdicts::remedy> unused_graphs(const clues& of) {
  const bool saved = of.who.what == attribution::category::activations && of.held_by == nullptr;
  const bool by_graph = of.kept_with_graph() || of.lost_in_graph() || saved;
  if (of.run.has_backward || !by_graph || of.grows_by_results()) return std::nullopt;
  verdicts::remedy what;
  what.id = "unused_graphs";
  what.helps_what_fills = true;
  what.cause = fmt::format("{} keeps autograd's graphs, and no backward pass used one so far.",
                           of.held_by == nullptr ? "Something" : of.variable());
  what.change =
      "Put `with torch.no_grad():` around it, or `@torch.no_grad()` on the function, where nothing "
      "is trained; where a backward pass is to come, call it earlier, for fewer steps at once.";
  what.caution = "`model.eval()` does not stop autograd from recording.";
  return what;
}

std::optional<verdicts::remedy> growing_graph(const clues& of) {
  const bool saved = of.who.what == attribution::category::activations;
  if (!of.lost_in_graph() && !(saved && of.held_by == nullptr)) return std::nullopt;
  verdicts::remedy what;
  what.id = "growing_graph";
  what.cause =
      "Tensors that autograd saved for a backward pass stay: probably a result of each step is "
      "kept "
      "with its graph, or one step's graph goes on from the one before.";
  what.change =
      "Keep numbers (`loss.item()`) or `x.detach()`; cut what goes from step to step with "
      "`detach()`; leave `retain_graph=True` out; what is not trained on, compute under "
      "`torch.no_grad()`.";
  what.caution = "empty_cache() frees none of it.";
  return what;
}

std::optional<verdicts::remedy> recurrent_state(const clues& of) {
  if (!of.kept_with_graph() || of.kept_in({"list", "dict", "deque", "set"})) return std::nullopt;
  if (!of.passes_through("torch/nn/modules/rnn.py")) return std::nullopt;
  verdicts::remedy what;
  what.id = "recurrent_state";
  what.helps_what_fills = true;
  what.cause = fmt::format(
      "{} goes from one step into the next with its graph, so the graph of every earlier step "
      "stays behind it.",
      of.variable());
  what.change =
      "Detach it where a new chunk begins: `h = h.detach()`, of an LSTM `h, c = h.detach(), "
      "c.detach()`.";
  what.caution =
      "`backward(retain_graph=True)` silences the error about a second backward; the memory stays, "
      "and each step takes longer.";
  return what;
}

std::optional<verdicts::remedy> growing_sum(const clues& of) {
  if (!of.kept_with_graph() || of.kept_in()) return std::nullopt;
  verdicts::remedy what;
  what.id = "growing_sum";
  what.helps_what_fills = true;
  what.cause = fmt::format(
      "{} is one tensor whose graph grows: it is computed from what it was in the step before, and "
      "so keeps the graph of every step.",
      of.variable());
  what.change = fmt::format(
      "Cut the graph between steps: `{0} = {0}.detach()`; to a sum that is only read add numbers "
      "(`total += loss.item()`); what is not trained on, compute under `torch.no_grad()`.",
      verdicts::variable_of(*of.held_by));
  what.caution = "`del loss` at the end of the step changes nothing: the graph still refers to it.";
  return what;
}

std::optional<verdicts::remedy> kept_with_graph(const clues& of) {
  if (!of.kept_with_graph()) return std::nullopt;
  verdicts::remedy what;
  const bool results = of.grows_by_results();
  what.id = results ? "results_with_graph" : "kept_with_graph";
  what.moves_to_host = results;
  what.helps_what_fills = true;
  what.cause = fmt::format(
      "{} keeps results together with the graphs that made them, and with everything that these "
      "saved for a backward pass.",
      of.variable());
  what.change =
      results ? "Keep `x.detach().cpu()`, or reduce each result to what is needed (argmax, sums) "
                "before it is kept: most of it are the results themselves; compute what is never "
                "trained on under `torch.no_grad()`."
              : "Keep `x.item()` of a number and `x.detach()` of a tensor, with `.cpu()` after it "
                "where the GPU does not need it any more; compute what is never trained on under "
                "`torch.no_grad()`.";
  what.caution = "`del` of the local name changes nothing as long as the container refers to it.";
  return what;
}

}  // namespace memtrace::remedies
