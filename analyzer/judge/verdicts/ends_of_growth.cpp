// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/bounded_growth.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <string_view>

#include "analyzer/base/text/parts.h"
#include "analyzer/base/text/units.h"
#include "analyzer/judge/verdicts/held_path.h"
#include "analyzer/judge/verdicts/retainer_words.h"
#include "analyzer/trace/code/frames.h"

namespace memtrace::verdicts {

namespace {

using attribution::category;

[[nodiscard]] std::uint64_t length_of(const retainer& held_by) {
  return held_by.grows_in ? held_by.grows_in->length : held_by.length;
}

// At the end of the run, if it has had so many elements for so many blocks all the time: heap scans
// end long before where they would cost too much.
[[nodiscard]] std::uint64_t projected_length(const suspect& who, const retainer& held_by) {
  const auto length = length_of(held_by);
  const auto all =
      std::accumulate(who.retained_by.begin(), who.retained_by.end(), std::uint64_t{0},
                      [](std::uint64_t sum, const retainer& one) { return sum + one.blocks; });
  const bool is_all = held_by.blocks != 0 && all == held_by.blocks;
  return is_all ? std::max(length, who.blocks * length / held_by.blocks) : length;
}

// Seen more than once, and of the same size: the growth is elsewhere.
[[nodiscard]] bool stays_as_it_is(const retainer& held_by) {
  return held_by.heap_scans > 1 && held_by.bytes_per_step == 0;
}

// A variable with the batch at hand, or the gradients of weights: beside what grows.
[[nodiscard]] bool is_of_a_step(const retainer& held_by) {
  constexpr auto elsewhere = format::held_unreachable | format::held_graph;
  const bool gradients = held_by.path.ends_with(".grad") && held_by.bytes_per_step == 0;
  return (held_by.blocks == 1 || gradients) && held_by.container.empty() &&
         (held_by.flags & elsewhere) == 0;
}

// "which is emptied after 40 steps (train.py:31, `step % 40 == 0`)"
[[nodiscard]] std::string bound_words(const retainer& held_by) {
  const auto& bound = *held_by.bound;
  const auto place = bound.file.empty()
                         ? std::string()
                         : fmt::format("{}:{}, ", text::file_name(bound.file), bound.line);
  const auto said_by = fmt::format("({}`{}`)", place, bound.expression);
  const auto value = text::format_count(bound.value);
  using program::bound_kind;
  switch (bound.kind) {
    case bound_kind::container:
      return "which is bounded";
    case bound_kind::emptied:
      return fmt::format("which the program empties after {} rounds {}", value, said_by);
    case bound_kind::keys:
      return fmt::format("under keys of which there are {} {}", value, said_by);
    case bound_kind::loop:
      if ((held_by.flags & format::held_statement) != 0)
        return fmt::format("up to the end of what that goes through {}", said_by);
      return fmt::format("up to the end of a loop, after which it is read {}", said_by);
    case bound_kind::counted:
      return fmt::format("which the program bounds by a count of at most {} {}", value, said_by);
    default:
      return fmt::format("which the program bounds at {} {}", value, said_by);
  }
}

// A container that is emptied, with what it has gathered by then.
[[nodiscard]] bounded_growth until_emptied(const suspect& who, const retainer& held_by) {
  bounded_growth found;
  found.summary = fmt::format("grows in {}, {}", describe(held_by), bound_words(held_by));
  found.overturned_by =
      fmt::format("growth after the program has emptied `{}`", variable_of(held_by));
  found.steps_to_full =
      std::max(held_by.bound->value, who.found.evidence.steps + 1) - who.found.evidence.steps;
  found.bound = held_by.bound;
  return found;
}

// A tensor that nothing with a name has, as a layer's result on its way to the next one, when a container
// had several: what piles up one by one would be as many.
[[nodiscard]] bool is_passed_on(const retainer& held_by, const suspect& who) {
  constexpr std::uint64_t several = 3;
  return held_by.blocks == 1 && held_by.heap_scans == 1 && held_by.container.empty() &&
         (held_by.flags & format::held_graph) == 0 &&
         std::ranges::any_of(who.retained_by, [](const retainer& other) {
           return !other.container.empty() && other.blocks >= several;
         });
}

// The largest of a suspect's retainers that has an end and `names` it. Null: less than nearly all
// of what the retainers hold has an end.
template <class Ends, class Names>
[[nodiscard]] const retainer* largest_with_end(const suspect& who, Ends has_end, Names names) {
  std::uint64_t all = 0;
  std::uint64_t ending = 0;
  const retainer* largest = nullptr;
  for (const auto& held_by : who.retained_by) {
    const bool ends = has_end(held_by);
    const bool is_beside =
        stays_as_it_is(held_by) || is_of_a_step(held_by) || is_passed_on(held_by, who);
    if (!ends && is_beside) continue;
    all += held_by.bytes;
    if (!ends) continue;
    ending += held_by.bytes;
    if (!names(held_by)) continue;
    if (largest == nullptr || held_by.bytes > largest->bytes) largest = &held_by;
  }
  const bool nearly_all = static_cast<double>(ending) >= most_of_growth * static_cast<double>(all);
  return nearly_all ? largest : nullptr;
}

[[nodiscard]] std::optional<bounded_growth> into_container(const suspect& who) {
  const auto bounded = [](const retainer& held_by) { return held_by.bound.has_value(); };
  const auto* const largest = largest_with_end(who, bounded, bounded);
  if (largest == nullptr) return std::nullopt;
  const auto& bound = *largest->bound;
  if (bound.kind == program::bound_kind::emptied) return until_emptied(who, *largest);
  const auto limit = bound.value;
  // In one that was made at its full length, count the elements that hold memory.
  const bool is_preset =
      bound.kind != program::bound_kind::container && length_of(*largest) == limit;
  const auto length = is_preset ? largest->blocks : projected_length(who, *largest);
  // Something else has what a full container has no place for.
  const bool is_past =
      (bound.kind == program::bound_kind::container || bound.kind == program::bound_kind::length) &&
      limit != 0 && !largest->grows_itself &&
      most_of_growth * static_cast<double>(length) > static_cast<double>(limit);
  if (is_past) return std::nullopt;
  bounded_growth found;
  found.summary = fmt::format("grows into {}, {}", describe(*largest), bound_words(*largest));
  found.overturned_by = "growth after the container is full";
  found.bound = bound;
  if (bound.kind == program::bound_kind::loop) found.overturned_by = "a run whose loop has no end";
  const bool has_no_length =
      bound.kind == program::bound_kind::counted || bound.kind == program::bound_kind::loop;
  if (limit == 0 || has_no_length) return found;
  if (largest->grows_itself) {  // nobody knows how many rows it has
    found.overturned_by = fmt::format("growth after `{}` is {} long", variable_of(*largest),
                                      text::format_count(limit));
    return found;
  }
  found.overturned_by =
      fmt::format("growth after `{}` is full at {} elements{}", variable_of(*largest),
                  text::format_count(limit),
                  length_of(*largest) == 0
                      ? ""
                      : fmt::format(" (it held {})", text::format_count(length_of(*largest))));
  if (limit < length || length == 0 || who.bytes_per_step <= 0) return found;
  const double an_element = static_cast<double>(largest->bytes) /
                            static_cast<double>(is_preset ? length : length_of(*largest));
  const double missing = static_cast<double>(limit - length) * an_element;
  found.steps_to_full = static_cast<std::uint64_t>(std::ceil(missing / who.bytes_per_step));
  return found;
}

// Keys and values of a text that is being written: each layer's are joined with those of one more
// position in each step, so that what is there by now tells how many positions it has.
[[nodiscard]] std::optional<bounded_growth> up_to_positions(const suspect& who,
                                                            const growing_run& run) {
  const bool is_joined = who.generations <= births_of_what_streams && !who.by_more_blocks;
  if (who.what != category::kv_cache || run.positions == 0 || !is_joined) return std::nullopt;
  if (who.bytes_per_step < 1) return std::nullopt;
  const double so_far = static_cast<double>(who.bytes) / who.bytes_per_step;
  const auto limit = static_cast<double>(run.positions);
  if (so_far > limit) return std::nullopt;
  const auto size = [](double bytes) {
    return text::format_bytes(static_cast<std::uint64_t>(std::llround(bytes)));
  };
  bounded_growth found;
  found.summary = fmt::format("grows with a KV cache: {} a token, {} at the model's {} positions",
                              size(who.bytes_per_step), size(who.bytes_per_step * limit),
                              text::format_count(run.positions));
  found.overturned_by = "growth past the model's positions, or of one text after the other";
  found.steps_to_full = static_cast<std::uint64_t>(std::ceil(limit - so_far));
  found.bound = program::bound{
      program::bound_kind::positions, {}, 0, "max_position_embeddings", run.positions};
  return found;
}

[[nodiscard]] std::string question_of(const program::doubt& why) {
  const auto place =
      fmt::format("{}:{}, `{}`", text::file_name(why.file), why.line, why.expression);
  using program::doubt_kind;
  switch (why.kind) {
    case doubt_kind::keys:
      return fmt::format("a key that comes again adds nothing ({})", place);
    case doubt_kind::taken_out:
      return fmt::format("the program may take out of it ({})", place);
    case doubt_kind::measured:
      return fmt::format("the program asks for its length ({})", place);
    case doubt_kind::elsewhere:
      return fmt::format("code that is not in this file has it ({})", place);
    case doubt_kind::runs_out:
      return fmt::format("what is put in may run out ({})", place);
    case doubt_kind::places:
      return "no container there gets longer: more of what was there holds memory";
    case doubt_kind::captures:
      return "there may be no more of them";
    case doubt_kind::returns:
      return "it is a local variable of a library's function, and goes when that returns";
  }
  return {};
}

[[nodiscard]] bounded_growth open_growth(const retainer& held_by, const program::doubt& why,
                                         std::string overturned_by) {
  bounded_growth found;
  found.settled = false;
  found.summary = fmt::format("grows so far in {}: whether it goes on is not settled, as {}",
                              describe(held_by), question_of(why));
  found.overturned_by = std::move(overturned_by);
  found.doubt = why;
  return found;
}

// A local variable of a library's function gathers what an evaluation makes, as generate() does with
// the scores of each token. What the call returned, in one container, is seen at the exit alone.
[[nodiscard]] std::optional<bounded_growth> until_return(const suspect& who) {
  constexpr auto elsewhere = format::held_unreachable | format::held_traceback | format::held_hook;
  const auto is_local = [](const retainer& held_by) {
    return held_by.owner.starts_with("local of ") && !held_by.file.empty() &&
           !code::is_user_code(held_by.file) && (held_by.flags & elsewhere) == 0;
  };
  const auto is_returned = [](const retainer& held_by) {
    return held_by.at_exit_only && held_by.blocks <= held_by.length;
  };
  if (who.born_in != attribution::phase::evaluation) return std::nullopt;
  const auto* const largest = largest_with_end(
      who, [&](const retainer& one) { return is_local(one) || is_returned(one); },
      [&](const retainer& one) { return is_local(one) && one.gets_longer; });
  if (largest == nullptr) return std::nullopt;
  const program::doubt why{program::doubt_kind::returns, largest->file, largest->line,
                           largest->owner};
  return open_growth(*largest, why, "growth after the call has ended");
}

// A model that grows as it is written gets a few more parts (tasks, stages), not ever more; they
// need not all run in each step. They are its own: what a list or an optimizer keeps is not.
constexpr std::uint64_t most_parts = 8;

[[nodiscard]] bool is_one_of_few_parts(const suspect& who) {
  return who.in_running_model && who.generations <= most_parts && !who.retained_by.empty() &&
         std::ranges::all_of(who.retained_by, [](const retainer& held_by) {
           return held_by.container.empty() && (held_by.flags & format::held_unreachable) == 0;
         });
}

[[nodiscard]] bool is_part_of_model(const suspect& who) {
  return who.what == category::weights && !who.modules_wrap_each_other &&
         (who.modules_run || is_one_of_few_parts(who));
}

// optimizer.state[…]['exp_avg'], but neither optimizer.state[…]['history'][…], nor that of one of
// many optimizers.
[[nodiscard]] bool is_state_of_parameter(const retainer& held_by) {
  constexpr std::string_view of_parameter = ".state[…]['";
  const std::string_view path = held_by.path;
  const auto key = path.find(of_parameter);
  // A list of optimizers that gets no longer itself is one of few.
  const bool of_few = held_by.grows_in && held_by.grows_in->variable.ends_with(".state");
  return key != path.npos && path.find("']", key) == path.size() - 2 &&
         (of_few || path.substr(0, key).find("[…]") == path.npos);
}

// A line that takes a step after the gradients were made there.
[[nodiscard]] bool is_gradient(const retainer& held_by) {
  constexpr auto elsewhere = format::held_unreachable | format::held_graph;
  return held_by.path.ends_with(".grad") && (held_by.flags & elsewhere) == 0 &&
         held_by.recorded_in_backward == 0;
}

// Parameters are the model's and the optimizer's groups', too.
[[nodiscard]] bool is_under_unknown_keys(const retainer& held_by) {
  return held_by.grows_in && held_by.grows_in->keys == 'n';
}

[[nodiscard]] std::optional<bounded_growth> first_states(const suspect& who,
                                                         const growing_run& run) {
  const bool comes_anew = who.generations <= births_of_what_streams;
  if (who.what != category::optimizer_states || run.weights_leak || comes_anew ||
      std::ranges::none_of(who.retained_by, is_state_of_parameter) ||
      !std::ranges::all_of(
          who.retained_by,
          [](const auto& one) { return is_state_of_parameter(one) || is_gradient(one); }) ||
      std::ranges::any_of(who.retained_by, is_under_unknown_keys)) {
    return std::nullopt;
  }
  return bounded_growth{
      .summary =
          "grows by states that the optimizer makes when a parameter has its first "
          "gradient, once for each",
      .steps_to_full = std::nullopt,
      .overturned_by = "growth after every parameter has had a gradient"};
}

[[nodiscard]] std::optional<bounded_growth> larger_model(const suspect& who,
                                                         const growing_run& run) {
  const bool part_of_model = is_part_of_model(who);
  const auto births = who.what == category::gradients ? most_parts : births_of_what_streams;
  const bool goes_with_it = run.model_grows && who.generations <= births &&
                            (who.what == category::gradients || who.what == category::activations ||
                             who.what == category::outputs || who.what == category::temporaries ||
                             who.what == category::optimizer_states);
  if (!part_of_model && !goes_with_it) return std::nullopt;
  return bounded_growth{.summary = "grows with the model, to which the program adds modules",
                        .steps_to_full = std::nullopt,
                        .overturned_by = "modules that stay and no longer run"};
}

// A gradient for each weight that needs one, in place of the one before: no more than the weights
// are, which do not grow.
[[nodiscard]] std::optional<bounded_growth> gradients_of_weights(const suspect& who,
                                                                 const growing_run& run) {
  const bool of_weights = std::ranges::all_of(who.retained_by, is_gradient);
  const bool one_each = who.generations <= births_of_what_streams || !who.retained_by.empty();
  if (who.what != category::gradients || !who.fits_weights || run.weights_leak || !of_weights ||
      !one_each) {
    return std::nullopt;
  }
  return bounded_growth{
      .summary = "grows by gradients of weights that had none before, one for each",
      .steps_to_full = std::nullopt,
      .overturned_by = "growth after every weight has a gradient"};
}

// Memory of one step alone, in variables that the next step gives something else: the work grows.
[[nodiscard]] std::optional<bounded_growth> larger_steps(const suspect& who) {
  if (who.generations > births_of_what_streams || who.retained_by.empty()) return std::nullopt;
  const auto is_anew = [&](const retainer& held_by) {
    const bool anew = held_by.reallocated || (who.by_more_blocks && !held_by.made_of_itself);
    // Ever more hooks have something of each step.
    constexpr auto elsewhere = format::held_unreachable | format::held_hook;
    return anew && (held_by.flags & elsewhere) == 0;
  };
  const auto first = std::ranges::find_if(who.retained_by, is_anew);
  const bool anew = first != who.retained_by.end() &&
                    std::ranges::all_of(who.retained_by, [&](const retainer& held_by) {
                      const bool gradient = held_by.path.ends_with(".grad");
                      return is_anew(held_by) || (gradient && is_of_a_step(held_by));
                    });
  if (!anew) return std::nullopt;
  const auto name = variable_of(*first);
  return bounded_growth{
      .summary =
          fmt::format("grows with the work of a step, whose latest is in {}", describe(*first)),
      .steps_to_full = std::nullopt,
      .overturned_by =
          fmt::format("growth of `{}` in steps that work on no more than before", name)};
}

// A dictionary that has an entry for each size that the inputs have had.
[[nodiscard]] std::optional<bounded_growth> one_for_each_size(const suspect& who) {
  if (!who.for_new_sizes || who.retained_by.empty()) return std::nullopt;
  const auto& held_by = who.retained_by.front();
  const auto kind = container_class(held_by);
  if (!program::is_dictionary(kind) && kind != "lru_cache") return std::nullopt;
  return bounded_growth{
      .summary = fmt::format("grows by an entry for each new size of the inputs, in {}",
                             describe(held_by)),
      .steps_to_full = std::nullopt,
      .overturned_by = "entries that are made while the inputs' sizes stay"};
}

// A table of positions, a mask or a grid that is reallocated, and larger, where a step's inputs are
// larger than any before.
[[nodiscard]] std::optional<bounded_growth> as_large_as_inputs(const suspect& who) {
  if (!who.for_new_sizes || who.generations > births_of_what_streams || who.retained_by.empty() ||
      !who.retained_by.front().container.empty()) {
    return std::nullopt;
  }
  const auto name = variable_of(who.retained_by.front());
  return bounded_growth{
      .summary =
          fmt::format("is made anew for larger inputs, in {}", describe(who.retained_by.front())),
      .steps_to_full = std::nullopt,
      .overturned_by = fmt::format("growth of `{}` while the inputs' sizes stay", name)};
}

[[nodiscard]] std::optional<bounded_growth> not_settled(const suspect& who,
                                                        const growing_run& run) {
  // The last of the steps has no end to measure at; growth that began late was looked at from then.
  const auto steps = std::max(who.found.evidence.steps, run.steps);
  if (steps + 1 >= steps_that_tell) return std::nullopt;
  const auto in_doubt = [](const retainer& held_by) { return held_by.doubt.has_value(); };
  const auto* const largest = largest_with_end(
      who, [&](const retainer& held_by) { return held_by.bound || in_doubt(held_by); }, in_doubt);
  if (largest == nullptr) return std::nullopt;
  auto found =
      open_growth(*largest, *largest->doubt,
                  fmt::format("whether `{}` grows in a longer run", variable_of(*largest)));
  found.steps_to_full = steps_that_tell - steps - 1;
  return found;
}

// What CUDA graphs were captured with stays as long as they do.
[[nodiscard]] std::optional<bounded_growth> by_captures(const suspect& who) {
  if (!who.captured) return std::nullopt;
  const program::doubt why{program::doubt_kind::captures, {}, 0, {}};
  return bounded_growth{
      .summary =
          fmt::format("grows so far with each CUDA graph that is captured: whether it goes on "
                      "is not settled, as {}",
                      question_of(why)),
      .steps_to_full = std::nullopt,
      .overturned_by = "growth after the last size has been captured",
      .settled = false,
      .doubt = why};
}

// An evaluation that is called once more, at the end of the program.
[[nodiscard]] std::optional<bounded_growth> until_given_back(const suspect& who) {
  if (who.given_back_by.empty()) return std::nullopt;
  const program::doubt why{program::doubt_kind::returns, {}, 0, who.given_back_by};
  return bounded_growth{.summary = fmt::format("grows so far in a call of `{}`, another call of "
                                               "which has given as much back: whether this one "
                                               "does is not settled",
                                               who.given_back_by),
                        .steps_to_full = std::nullopt,
                        .overturned_by = "growth past what the other call had",
                        .settled = false,
                        .doubt = why};
}

// cuBLAS has one for each stream on which something is multiplied, and PyTorch takes its streams from a
// pool of 32 for each priority (c10/cuda/CUDAStream.cpp).
[[nodiscard]] std::optional<bounded_growth> by_streams(const suspect& who) {
  if (who.what != category::workspace) return std::nullopt;
  return bounded_growth{
      .summary =
          "grows by a workspace of cuBLAS for each stream that multiplies for the first time",
      .steps_to_full = std::nullopt,
      .overturned_by = "growth after all of PyTorch's 32 streams of each priority have one"};
}

}  // namespace

growing_run growing_run_of(const findings& found, std::uint64_t positions) {
  growing_run run;
  run.positions = positions;
  for (const auto& about : found.verdicts) {
    if (about.about.kind == subject_kind::device && !about.series.bytes.empty()) {
      run.steps = std::max(
          run.steps, about.series.first_step + about.series.stride * about.series.bytes.size());
    }
    for (const auto& who : about.suspects) {
      if (who.what != category::weights || !growth::is_leak(who.found.shape)) continue;
      const bool fills = is_part_of_model(who) || into_container(who);
      (fills ? run.model_grows : run.weights_leak) = true;
    }
  }
  return run;
}

std::optional<bounded_growth> bounded_growth_of(const suspect& who, const growing_run& run) {
  if (auto found = by_captures(who)) return found;
  if (auto found = by_streams(who)) return found;
  if (auto found = into_container(who)) return found;
  if (auto found = up_to_positions(who, run)) return found;
  if (auto found = until_return(who)) return found;
  if (auto found = until_given_back(who)) return found;
  if (auto found = first_states(who, run)) return found;
  if (auto found = larger_model(who, run)) return found;
  if (auto found = gradients_of_weights(who, run)) return found;
  if (auto found = larger_steps(who)) return found;
  if (auto found = one_for_each_size(who)) return found;
  if (auto found = as_large_as_inputs(who)) return found;
  return not_settled(who, run);
}

}  // namespace memtrace::verdicts
