// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/fit/trial.h"

#include <fmt/core.h>

#include <charconv>
#include <nlohmann/json.hpp>

namespace memtrace::fit {

namespace {

[[nodiscard]] std::string counted(std::uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// Why a program that read values may have stopped; empty where it read none.
[[nodiscard]] std::string if_it_stops(std::uint64_t reads) {
  if (reads == 0) return {};
  return fmt::format(
      "; it read {} that a GPU would have computed, and that are zeros here: if it stops for its "
      "loss (early stopping, a threshold, a plateau), let it go on",
      counted(reads, "value"));
}

using json = nlohmann::ordered_json;

constexpr const char* schema = "memtrace-probe/1";

[[nodiscard]] json json_of(const trial& of) {
  return {{"model", of.model},
          {"total_bytes", of.total_bytes},
          {"batch", of.batch},
          {"sequence", of.sequence ? json(*of.sequence) : json()},
          {"variant", of.variant},
          {"batch_of", name_of(of.what)},
          {"training_batch", of.training_batch}};
}

}  // namespace

std::uint64_t reads_of_zeros(std::string_view output) {
  constexpr std::string_view before = "simulated GPU: ";
  constexpr std::string_view after = " of data that no kernel computed";
  const auto end = output.rfind(after);
  if (end == output.npos) return 0;
  const auto begin = output.rfind(before, end);
  if (begin == output.npos) return 0;
  std::uint64_t reads = 0;
  std::from_chars(output.data() + begin + before.size(), output.data() + end, reads);
  return reads;
}

std::string zeros_as_a_reason(std::uint64_t reads) {
  if (reads == 0) return {};
  return fmt::format(
      "; it had read {} that a GPU would have computed, and that are zeros here: if it checks its "
      "loss (NaN, zero, no progress), leave that check out for fit",
      counted(reads, "value"));
}

std::string caution_of(const probe& fitted) {
  if (fitted.came != verdict::fits) return {};
  if (!fitted.unknown_sizes.empty()) {
    return fmt::format(
        "it needs at least that: what {} selects hangs on values that a dry run does not compute, "
        "and is empty; choose it by --routing or --masks",
        code::places_of(fitted.unknown_sizes));
  }
  if (!fitted.stopped_early && fitted.steps < fitted.steps_asked) {
    return fmt::format("the program ended after {} of the {} that --steps asks for",
                       counted(fitted.steps, "step"), fitted.steps_asked) +
           if_it_stops(fitted.reads_of_zeros);
  }
  if (fitted.rose_in_last_step) {
    const auto made = fitted.steps == 1
                          ? std::string("made one step, and a second one may need more")
                          : fmt::format(
                                "made {} steps, and its peak still rose in the last: "
                                "further ones may need more",
                                fitted.steps);
    return fitted.stopped_early ? fmt::format("the program {}; give more --steps", made)
                                : "the program " + made + if_it_stops(fitted.reads_of_zeros);
  }
  if (fitted.steps == 0 && fitted.went_backward && fitted.reads_of_zeros != 0) {
    return "the program computed gradients and never made a step of an optimizer" +
           if_it_stops(fitted.reads_of_zeros);
  }
  return {};
}

std::string to_text(const probe& ran) {
  const json made = {{"schema", schema},
                     {"trial", json_of(ran.of)},
                     {"fits", ran.came == verdict::fits},
                     {"caught", ran.caught},
                     {"stopped_early", ran.stopped_early},
                     {"seconds", ran.seconds},
                     {"output", ran.output}};
  return made.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::optional<probe> probe_in(const std::string& text, const trial& wanted) {
  const auto read = json::parse(text, nullptr, false);
  if (!read.is_object() || read.value("schema", "") != schema) return std::nullopt;
  if (!read.contains("trial") || read["trial"] != json_of(wanted)) return std::nullopt;
  probe made;
  made.of = wanted;
  made.came = read.value("fits", false) ? verdict::fits : verdict::ran_out;
  made.caught = read.value("caught", false);
  made.stopped_early = read.value("stopped_early", false);
  made.seconds = read.value("seconds", 0.0);
  made.output = read.value("output", "");
  made.from_cache = true;
  return made;
}

}  // namespace memtrace::fit
