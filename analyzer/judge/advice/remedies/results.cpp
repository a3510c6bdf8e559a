// SPDX-License-Identifier: Apache-2.0
//
// Results of the steps that are collected on the GPU.
#include <fmt/core.h>

#include "analyzer/judge/advice/remedies/remedies.h"
#include "analyzer/judge/verdicts/retainer_words.h"

namespace memtrace::remedies {

namespace {

constexpr std::uint64_t least_block = 512;  // what the allocator gives for a 4-byte tensor

[[nodiscard]] bool by_epochs(const clues& of) {
  using growth::shape;
  const auto found = of.about.found.shape;
  return found == shape::stepwise || found == shape::sawtooth || found == shape::sawtooth_leak;
}

[[nodiscard]] bool is_input(const clues& of) {
  return of.who.what == attribution::category::inputs;
}

// One block, reallocated each step and a little larger than the one before.
[[nodiscard]] bool is_one_block(const clues& of) {
  return of.who.blocks == 1 && of.who.generations <= 1 && growth::is_leak(of.who.found.shape);
}

}  // namespace

std::optional<verdicts::remedy> evaluation_results(const clues& of) {
  // transformers' own list of an evaluation's results.
  const bool in_trainer = of.held_by != nullptr && of.held_by->holder == eval_loop_container;
  if (!(of.in_evaluation() || in_trainer) || of.kept_by(format::held_bounded)) return std::nullopt;
  const bool trainer = in_trainer || of.passes_through("/transformers/trainer");
  verdicts::remedy what;
  const auto beside = of.also_kept() + of.read_again();
  what.id = trainer ? "eval_accumulation_steps" : "evaluation_results";
  if (!trainer) of.name_by_readings(what);
  what.moves_to_host = !trainer;
  what.helps_what_fills = true;
  what.cause =
      fmt::format("{} the results of every evaluation batch on the GPU.",
                  of.held_by == nullptr ? std::string("A list, or a comprehension, collects")
                                        : of.variable() + " keeps");
  what.change =
      trainer ? "Pass `eval_accumulation_steps=…` (results go to the CPU every so many batches), "
                "or reduce logits early with `preprocess_logits_for_metrics`."
              : fmt::format(
                    "Move each result to the CPU as it comes (`.cpu()`){}, or reduce it to what is "
                    "needed (argmax, sums) before it is kept; clear the list after the evaluation.",
                    beside);
  what.caution =
      "`torch.no_grad()` and `empty_cache()` free none of it: it is the results themselves that "
      "stay.";
  return what;
}

std::optional<verdicts::remedy> never_read(const clues& of) {
  const bool is_read = of.held_by == nullptr || of.held_by->read.how != program::read_how::never ||
                       !of.held_by->also.empty();
  if (is_read || !of.kept_in() || of.kept_by(format::held_bounded)) return std::nullopt;
  verdicts::remedy what;
  what.id = "never_read";
  what.helps_what_fills = true;
  what.cause =
      fmt::format("{} keeps it, and no line of the program reads what is in it.", of.variable());
  what.change = "Leave out the line that puts it there.";
  return what;
}

std::optional<verdicts::remedy> epoch_outputs(const clues& of) {
  const bool lightning = of.passes_through("lightning/");
  if (!of.kept_in({"list", "tuple", "deque"}) || of.kept_by(format::held_bounded)) {
    return std::nullopt;
  }
  if (!lightning && !(by_epochs(of) && of.grows_by_results())) return std::nullopt;
  verdicts::remedy what;
  const auto beside = of.also_kept() + of.read_again();
  what.id = "epoch_outputs";
  of.name_by_readings(what);
  what.moves_to_host = true;
  what.helps_what_fills = true;
  what.cause = fmt::format("{} keeps what the steps of an epoch return.", of.variable());
  what.change =
      lightning ? "Return only the loss from `training_step`; what else is needed at the epoch's "
                  "end: `.detach().cpu()`, in a list that `on_train_epoch_end` clears."
                : fmt::format(
                      "Keep numbers or CPU copies (`.detach().cpu()`){}, or work out what is "
                      "needed of them step by step; clear it at the epoch's end.",
                      beside);
  return what;
}

std::optional<verdicts::remedy> numbers_as_tensors(const clues& of) {
  const bool small = of.who.blocks != 0 && of.who.bytes / of.who.blocks <= least_block;
  if (!small || !of.kept_in() || of.kept_by(format::held_bounded)) return std::nullopt;
  verdicts::remedy what;
  what.id = "numbers_as_tensors";
  what.cause = fmt::format(
      "{} keeps numbers as tensors on the GPU: each takes a block of 512 bytes, which also pins "
      "its "
      "segment.",
      of.variable());
  what.change =
      "Keep `x.item()`, or fill one tensor that was made before the loop (`history[step] = x`).";
  what.caution = "`item()` waits for the GPU: call it every so many steps, not in each.";
  return what;
}

std::optional<verdicts::remedy> collected_results(const clues& of) {
  if (!of.kept_in() || of.kept_by(format::held_bounded)) return std::nullopt;
  verdicts::remedy what;
  const auto beside = of.also_kept() + of.read_again();
  what.id = is_input(of) ? "collected_batches" : "collected_results";
  if (!is_input(of)) of.name_by_readings(what);
  what.moves_to_host = !is_input(of);
  what.cause = fmt::format(
      "{} gets one more {} on the GPU with each step, and nothing takes them "
      "out.",
      of.variable(), is_input(of) ? "batch" : "tensor");
  what.change = fmt::format(
      "Use each where it is made (train on it, or reduce it), batch by batch; what must be "
      "kept, keep on the CPU (`.append(x.cpu())`){}, or bounded (`deque(maxlen=…)`)",
      beside);
  const auto kept_in = verdicts::variable_of(*of.held_by);
  const bool is_written_so =
      kept_in.find("[…]") == std::string::npos && !of.kept_by(format::held_statement);
  what.change +=
      is_written_so ? fmt::format("; `{}.clear()` when it has been used.", kept_in) : ".";
  what.caution = "empty_cache() in each batch frees none of it: everything in the list is in use.";
  return what;
}

std::optional<verdicts::remedy> growing_tensor(const clues& of) {
  if (!is_one_block(of)) return std::nullopt;
  verdicts::remedy what;
  what.id = "growing_tensor";
  what.cause = fmt::format(
      "One tensor{} is made again in each step, larger each time (as `torch.cat` does): old and "
      "new are there at once while it is copied.",
      of.held_by == nullptr ? "" : ", " + of.variable() + ",");
  what.change =
      "Allocate it once at its final size and write into it, or keep the parts on the CPU and join "
      "them there.";
  what.caution = "Its copies cost time that grows with the square of the steps.";
  return what;
}

std::optional<verdicts::remedy> kept_somewhere(const clues& of) {
  verdicts::remedy what;
  if (of.held_by == nullptr || of.kept_by(format::held_bounded)) return std::nullopt;
  what.id = "kept_somewhere";
  what.cause = fmt::format("{} keeps it.", verdicts::describe(*of.held_by));
  what.change = fmt::format(
      "Let go of it when a step is done (`del`, `None`, or `.clear()` of what holds it), or move "
      "what is kept to the CPU.");
  return what;
}

}  // namespace memtrace::remedies
