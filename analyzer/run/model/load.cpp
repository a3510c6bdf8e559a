// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/model/load.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "analyzer/model/attribution/periodicity.h"
#include "analyzer/model/replay/blocks_of_calls.h"
#include "analyzer/run/model/pass.h"
#include "analyzer/trace/code/frames.h"
#include "analyzer/trace/reader/observers.h"

namespace memtrace::run {

namespace {

[[nodiscard]] bool marks_steps(const attribution::result& found) {
  return std::ranges::any_of(found.devices, [](const auto& device) {
    return device.second.steps.boundary != attribution::step_boundary::none;
  });
}

[[nodiscard]] std::optional<std::uint64_t> wanted_event(const load_options& options,
                                                        const pass& done) {
  if (options.at) return event_of(*options.at, done.attributed());
  const auto* const oom = replay::decisive(done.replayed().ooms());
  return oom == nullptr ? std::nullopt : std::optional(oom->event);
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
  if (done.allocations() < fewest_allocations) return made;
  for (std::uint64_t i = 1; i <= windows; ++i) {
    made.ends.push_back(done.last_allocation() * i / windows);
  }
  return made;
}

// For such a program calls of a model, where there are enough of them.
[[nodiscard]] steps_given calls_of(const attribution::inferred_steps& found) {
  constexpr std::size_t fewest_calls = 12;
  steps_given made{{}, "call"};
  if (found.calls.size() >= fewest_calls) {
    made.ends.assign(found.calls.begin() + 1, found.calls.end());
  }
  return made;
}

struct steps_looked_for {
  attribution::inferred_steps found;
  std::optional<inferred_steps_report> told;  // where any were
  bool of_calls = false;                      // of a program without PyTorch
};

// For a program that marks none: from its allocations alone, at a fraction of what a whole pass
// costs, which would have to be repeated once the steps are known. Reading ends where it marks one.
[[nodiscard]] steps_looked_for look_for_steps(const trace::reader& first,
                                              const on_progress_t& on_progress) {
  auto reader = first.again();
  attribution::periodicity periods(reader.names());
  replay::blocks_of_calls blocks(reader.names(), periods);
  trace::observers all(periods, blocks);
  // To its end, where nothing else tells whether PyTorch comes later.
  (void)reader.read(all, on_progress, [&] { return periods.is_marked() && !blocks.told(); });
  steps_looked_for looked{periods.finish(), std::nullopt, blocks.told()};
  const auto& found = looked.found;
  if (found.count() != 0) {
    looked.told = {found.count(), found.confidence, code::frames_of(reader.names(), found.anchor)};
  }
  return looked;
}

}  // namespace

process_report load(const std::string& path, trace::reader& reader, const load_options& options,
                    const on_progress_t& on_progress) {
  attribution::options wanted;
  wanted.keep_blocks = options.blocks;
  if (options.at) wanted.at = options.at->event;
  steps_given given;
  const auto tell = [&](std::string_view what) {
    if (options.on_done) options.on_done(what);
  };
  const also_kept also{options.history, options.fates};
  auto steps = look_for_steps(reader, on_progress);
  if (steps.told) {
    wanted.inferred_boundaries = steps.found.ends();
    given = without_last(wanted.inferred_boundaries);
  }
  tell("steps looked for");
  std::unique_ptr<trace::reader> second;  // has names of its own, which its pass refers to
  std::optional<pass> done;
  done.emplace(reader, wanted, given, steps.of_calls, also, on_progress);
  tell("events read and attributed");
  const auto read_again = [&] {
    done.reset();
    second = std::make_unique<trace::reader>(reader.again());
    done.emplace(*second, wanted, given, steps.of_calls, also, on_progress);
    tell("events read again, for a moment or windows known only now");
  };
  if (!marks_steps(done->attributed()) && !steps.told) {
    given = calls_of(steps.found);
    if (given.ends.empty() && !steps.found.has_few_calls && !steps.of_calls) {
      given = windows_of(*done);
    }
    if (!given.ends.empty()) read_again();
  }
  if (const auto event = wanted_event(options, *done); event && event != wanted.at) {
    wanted.at = event;
    read_again();
  }
  auto report = done->report(path, std::move(steps.told), options);
  tell("fragmentation explained and changes proved by replays");
  return report;
}

}  // namespace memtrace::run
