// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/terminal/parts.h"

#include <fmt/core.h>

#include "analyzer/base/text/units.h"
#include "analyzer/model/estimate/expected.h"
#include "analyzer/run/model/expected.h"

namespace memtrace::terminal {

namespace {

[[nodiscard]] std::string difference_of(const estimate::expected_term& term) {
  if (!term.expected) return "";
  if (*term.expected == 0) return term.measured == 0 ? "equal" : "";
  const auto expected = static_cast<double>(*term.expected);
  return fmt::format("{:+.1f} %", 100 * (static_cast<double>(term.measured) - expected) / expected);
}

void add_room(text::page& out, const run::gpu_room& room) {
  const auto share =
      static_cast<double>(room.used + room.others) / static_cast<double>(room.capacity);
  auto line = fmt::format("  {:.0f} % of the GPU is used (target 70 to 85 %)", 100 * share);
  if (room.batch_factor) {
    line += fmt::format("; up to 85 %: {:.2f} times this run's batch", *room.batch_factor);
  }
  out.line(line);
}

void add_host_room(text::page& out, const run::process_report& process) {
  const auto& host = process.host;
  if (!host.limit || *host.limit == 0 || host.limit_used.peak() == 0) return;
  out.line(fmt::format(
      "  {:.0f} % of the host's limit of {} is used (target at most 80 %)",
      100.0 * static_cast<double>(host.limit_used.peak()) / static_cast<double>(*host.limit),
      text::format_bytes(*host.limit)));
}

}  // namespace

void add_expected_in_full(text::page& out, const run::process_report& process,
                          const run::device_report& device) {
  const auto terms = run::expected_terms(process, device);
  if (terms.empty() && !device.from_cuda_calls) {
    out.line("  the peak lies in the setup: what of the model was there by then is not known");
    if (const auto room = run::room_of(process, device)) add_room(out, *room);
    add_host_room(out, process);
    return;
  }
  out.line(fmt::format("  {:>11} {:>11} {:>9}  {}", "expected", "measured", "", ""),
           text::emphasis::faint);
  for (const auto& term : terms) {
    out.line(fmt::format("  {:>11} {:>11} {:>9}  {}{}{}",
                         term.expected ? text::format_bytes(*term.expected) : "?",
                         text::format_bytes(term.measured), difference_of(term), term.name,
                         term.formula.empty() ? "" : ": ", term.formula));
    if (!term.note.empty() && (!term.expected || term.measured != *term.expected)) {
      out.line(fmt::format("  {:>36}{}", "", term.note));
    }
  }
  out.line(
      "  measured: the most at any phase's peak; formulas and sources: memtrace estimate, "
      "docs/estimate.md",
      text::emphasis::faint);
  if (const auto room = run::room_of(process, device)) add_room(out, *room);
  add_host_room(out, process);
}

std::string expected_in_brief(const run::process_report& process,
                              const run::device_report& device) {
  const auto peak = device.peak_allocated.totals.allocated;
  std::string line;
  for (const auto& term : run::expected_terms(process, device)) {
    // Less than expected is nothing to act on.
    if (!estimate::is_off(term, peak) || term.measured < *term.expected) continue;
    line += fmt::format("{}{} {} (expected {})", line.empty() ? "More than expected: " : ", ",
                        term.name, text::format_bytes(term.measured),
                        text::format_bytes(*term.expected));
  }
  return line.empty() ? line : line + "; --by expected has the formulas";
}

}  // namespace memtrace::terminal
