// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/terminal/parts.h"

#include <fmt/core.h>

#include "analyzer/base/text/units.h"

namespace memtrace::terminal {

std::vector<std::string> what_a_snapshot_is(const run::process_report& process) {
  if (!process.run.snapshot) return {};
  const auto& snapshot = *process.run.snapshot;
  if (snapshot.of_profiler) {
    std::vector<std::string> found{
        "  A trace of PyTorch's profiler, not a recording: blocks and totals, without segments"};
    if (snapshot.held != 0) {
      found.push_back(
          fmt::format("  It begins when {} were allocated already: peaks are those since",
                      text::format_bytes(snapshot.held)));
    }
    return found;
  }
  if (snapshot.history == "none") {
    return {
        "  A PyTorch memory snapshot without a history (_record_memory_history was off): only "
        "what was",
        "  there when it was taken is known, and not which line asked for it"};
  }
  if (snapshot.history == "whole") {
    return {
        "  A PyTorch memory snapshot, not a recording; its history begins with the first "
        "allocation"};
  }
  return {fmt::format("  A PyTorch memory snapshot, not a recording; when its history begins, {} "
                      "were allocated:",
                      text::format_bytes(snapshot.held)),
          "  it was begun late, or kept the last max_entries events only"};
}

const char* how_a_snapshot_ends(const run::snapshot_facts& snapshot) {
  if (snapshot.of_profiler) {
    return snapshot.agrees
               ? ", each total that the profiler tells equal to what they add up to"
               : ", which do not add up to the totals that the profiler tells: some are "
                 "missing";
  }
  if (snapshot.history == "none") return ": the blocks that were there";
  return snapshot.agrees ? ", which lead to the very segments and blocks that the snapshot lists"
                         : ", which do not lead to the segments and blocks that the snapshot lists";
}

namespace {

[[nodiscard]] std::vector<std::string> what_a_profile_lacks(const run::snapshot_facts& snapshot) {
  std::vector<std::string> found;
  found.emplace_back(
      "A profiler's trace does not tell: lines, requested sizes, segments and fragmentation, "
      "memory "
      "outside PyTorch");
  found.emplace_back(
      "Categories are guesses from when blocks come and go. A memory snapshot, or memtrace run, "
      "tells more");
  if (snapshot.backward == "threads") {
    found.emplace_back("The backward pass is what the threads that ran autograd's nodes allocated");
  }
  if (snapshot.skipped != 0) {
    found.push_back(fmt::format("{} of its memory events lack addresses or totals",
                                text::format_count(snapshot.skipped)));
  }
  return found;
}

}  // namespace

std::vector<std::string> what_a_snapshot_lacks(const run::snapshot_facts& snapshot) {
  if (snapshot.of_profiler) return what_a_profile_lacks(snapshot);
  std::vector<std::string> found;
  found.emplace_back(
      "A snapshot does not tell: memory outside PyTorch, the GPU's size, modules and parameters, "
      "what keeps memory alive");
  if (snapshot.stacks == "none") {
    found.emplace_back("It has no frames: lines and categories are not known");
  } else if (snapshot.backward == "assumed") {
    found.emplace_back(
        "Categories and phases are inferred from frames: what has no Python frame counts as the "
        "backward pass");
  } else {
    found.emplace_back("Categories and phases are inferred from frames");
  }
  if (!snapshot.times) {
    found.emplace_back("It has no times: they are numbers of events here, a microsecond each");
  }
  if (snapshot.skipped != 0) {
    found.push_back(fmt::format("{} of its events are of kinds that are not known here",
                                text::format_count(snapshot.skipped)));
  }
  return found;
}

}  // namespace memtrace::terminal
