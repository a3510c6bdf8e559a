// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/load.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "analyzer/run/changes.h"
#include "analyzer/run/read_once.h"

namespace memtrace::run {

namespace {

// Into names of its own, which live as long as what was found.
[[nodiscard]] pass read_again(const std::string& path, const trace::reader& first,
                              const attribution::options& wanted, const steps_given& given,
                              const on_progress_t& on_progress) {
  auto again = std::make_unique<trace::reader>(first.again());
  auto done = read_once(path, *again, wanted, given, on_progress);
  done.reader = std::move(again);
  return done;
}

[[nodiscard]] bool marks_steps(const attribution::result& found) {
  return std::ranges::any_of(found.devices, [](const auto& device) {
    return device.second.steps.boundary != attribution::step_boundary::none;
  });
}

[[nodiscard]] std::optional<std::uint64_t> wanted_event(const load_options& options,
                                                        const pass& done) {
  if (options.at) return event_of(*options.at, done.attributed);
  const auto* const oom = decisive_oom(done.report);
  return oom == nullptr ? std::nullopt : std::optional(oom->facts.event);
}

// The last of them may be cut short, and what is freed at the program's end belongs to it.
[[nodiscard]] steps_given without_last(std::vector<std::uint64_t> ends) {
  if (!ends.empty()) ends.pop_back();
  return {std::move(ends)};
}

// Nothing comes back in what the program does: equal windows of events, up to the last allocation.
[[nodiscard]] steps_given windows_of(const pass& done) {
  constexpr std::uint64_t windows = 48;
  constexpr std::uint64_t fewest_allocations = 500;
  steps_given made{{}, "event window"};
  if (done.allocations < fewest_allocations) return made;
  for (std::uint64_t i = 1; i <= windows; ++i) {
    made.ends.push_back(done.last_allocation * i / windows);
  }
  return made;
}

[[nodiscard]] inferred_steps_report describe(const trace::dictionary& names,
                                             const attribution::inferred_steps& found) {
  return {found.count(), found.confidence, code::frames_of(names, found.anchor)};
}

}  // namespace

process_report load(const std::string& path, trace::reader& reader, const load_options& options,
                    const on_progress_t& on_progress) {
  attribution::options wanted;
  wanted.keep_blocks = options.blocks;
  if (options.at) wanted.at = options.at->event;
  steps_given given;
  auto done = read_once(path, reader, wanted, given, on_progress);
  std::optional<inferred_steps_report> inferred;
  const bool marked = marks_steps(done.attributed);
  const auto again = [&] {
    done.allocators.reset();  // its requests, of which one pass at a time is enough
    done = read_again(path, reader, wanted, given, on_progress);
  };
  if (!marked && done.inferred.count() != 0) {
    inferred = describe(reader.names(), done.inferred);
    wanted.inferred_boundaries = done.inferred.ends();
    given = without_last(wanted.inferred_boundaries);
    // The moment of a step is known only once there are steps.
    if (const auto event = wanted_event(options, done)) wanted.at = event;
    again();
  } else if (!marked && !done.inferred.has_few_calls) {
    given = windows_of(done);
    if (!given.ends.empty()) {
      again();
    }
  }
  if (const auto event = wanted_event(options, done); event && event != wanted.at) {
    wanted.at = event;
    again();
  }
  done.report.inferred_steps = std::move(inferred);
  done.allocators->conclude(*done.replayed, done.attributed, done.report, options.on_replayed);
  done.report.changes = changes_of(done.report);
  return std::move(done.report);
}

}  // namespace memtrace::run
