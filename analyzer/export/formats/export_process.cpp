// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/formats/export_process.h"

#include <fmt/format.h>

#include <utility>

#include "analyzer/base/text/numbers.h"

namespace memtrace::exporting {

namespace {

[[nodiscard]] const attribution::steps_found* longest_steps(const run::process_report& report) {
  const attribution::steps_found* longest = nullptr;
  for (const auto& device : report.devices) {
    if (longest == nullptr || device.steps.steps.size() > longest->steps.size()) {
      longest = &device.steps;
    }
  }
  return longest;
}

[[nodiscard]] std::string no_such_step(std::string_view option, std::uint64_t step,
                                       std::size_t steps) {
  if (steps == 0) {
    return fmt::format("{} step:{}: no steps are known of this run; name an event", option, step);
  }
  return fmt::format("{} step:{}: the run has the steps 0 to {}", option, step, steps - 1);
}

struct window_found {
  window found;
  std::optional<std::string> problem;
};

[[nodiscard]] window_found window_of(const chosen& wanted, const run::process_report& report) {
  window_found made;
  const auto* const steps = longest_steps(report);
  const auto known = steps == nullptr ? 0 : steps->steps.size();
  if (wanted.from && wanted.from->event) made.found.from = *wanted.from->event;
  if (wanted.to && wanted.to->event) made.found.to = *wanted.to->event;
  if (wanted.from && wanted.from->step) {
    const auto step = *wanted.from->step;
    if (step >= known) {
      made.problem = no_such_step("--from", step, known);
    } else if (step > 0) {
      made.found.from = steps->steps[step - 1].end_event + 1;
    }
  }
  if (wanted.to && wanted.to->step) {
    const auto step = *wanted.to->step;
    if (step >= known) {
      made.problem = no_such_step("--to", step, known);
    } else {
      made.found.to = steps->steps[step].end_event;
    }
  }
  const auto events = report.completeness.events;
  if (!made.problem && made.found.from > made.found.to) {
    made.problem = "--from is behind --to; name an earlier event or step";
  } else if (!made.problem && events != 0 && made.found.from >= events) {
    made.problem = fmt::format("--from event:{}: the trace has the events 0 to {}", made.found.from,
                               events - 1);
  }
  return made;
}

// The moment that the report looked at: as --at says, else where memory ran out.
[[nodiscard]] std::optional<std::uint64_t> moment_of(const run::process_report& report) {
  for (const auto& device : report.devices) {
    if (device.at) return device.at->event;
  }
  return std::nullopt;
}

class rank_seen final : public trace::record_visitor {
 public:
  void on_info(std::string_view key, std::string_view value) override {
    if (key == format::info_key::rank) rank = text::number_in(value);
  }
  std::optional<std::uint64_t> rank;
};

}  // namespace

exported export_process(const std::string& path, trace::reader& reader, sink& to,
                        const chosen& wanted, const run::load_options& how,
                        const std::function<void(const trace::progress&)>& on_progress,
                        const std::function<bool()>& cancelled) {
  exported done;
  auto also = how;
  also.at = wanted.at;
  also.fates = true;
  const auto report = run::load(path, reader, also, on_progress);
  done.completeness = report.completeness;
  const auto at = moment_of(report);
  if (wanted.at && !at) {
    const auto* const steps = longest_steps(report);
    done.problem = wanted.at->step ? no_such_step("--at", *wanted.at->step,
                                                  steps == nullptr ? 0 : steps->steps.size())
                                   : fmt::format("--at event:{}: nothing is known of that moment",
                                                 wanted.at->event.value_or(0));
    return done;
  }
  const auto [seen, problem] = window_of(wanted, report);
  done.problem = problem;
  if (problem || cancelled()) return done;
  // The names of the first pass are those of the whole trace, by the same numbers: what a block is
  // called is often defined after its birth.
  auto again = reader.again();
  feed told({report, reader.names(), wanted.number, at}, to, seen);
  (void)again.read(told, on_progress, [&] { return told.is_behind() || cancelled(); });
  told.end();
  return done;
}

std::optional<std::uint64_t> rank_of(const trace::reader& reader) {
  rank_seen seen;
  auto again = reader.again();
  (void)again.read(seen, {}, [] { return true; });  // what it says of itself is in the first block
  return seen.rank;
}

}  // namespace memtrace::exporting
