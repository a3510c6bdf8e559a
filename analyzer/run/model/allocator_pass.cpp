// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/model/allocator_pass.h"

#include <algorithm>

#include "analyzer/judge/advice/advise.h"
#include "analyzer/judge/fragmentation/diagnose.h"

namespace memtrace::run {

namespace {

using all_evidence = std::map<std::uint32_t, blocks::device_evidence>;

// So that the report can show the lines after the trace is closed.
void add_frames(const trace::dictionary& names, const advice::advice_found& found,
                std::map<trace::stack_id, std::vector<code::source_frame>>& frames) {
  for (const auto& piece : found.pieces) {
    if (piece.what.stack) {
      frames.try_emplace(piece.what.stack, code::frames_of(names, piece.what.stack));
    }
  }
}

// A replay without a habit's calls says more than their figures alone: where it needs memory that
// is short, they stay.
void settle_habits(const all_evidence& devices, const advice::advice_found& found,
                   verdicts::findings& findings) {
  const bool replayed = !devices.empty() &&
                        std::all_of(devices.begin(), devices.end(),
                                    [](const auto& device) { return device.second.of != nullptr; });
  if (!replayed) return;
  std::erase_if(findings.habits, [&](const verdicts::habit& one) {
    return one.calls && std::ranges::find(found.pieces, one.id, [](const advice::piece& said) {
                          return said.what.tells_of;
                        }) == found.pieces.end();
  });
}

}  // namespace

allocator_pass::allocator_pass(const trace::dictionary& names)
    : names_(names),
      gathered_(names),
      history_(names),
      observers_(gathered_.records(), history_, copies_) {}

void allocator_pass::conclude(const replay::replayer& replayed,
                              const attribution::result& attributed, process_report& report,
                              const advice::on_replayed_t& on_replayed) {
  const auto devices = gathered_.finish(replayed, attributed, report.host, report.findings);
  for (const auto& [device, known] : devices) {
    if (known.of != nullptr) {
      report.fragmentation.push_back(fragmentation::diagnose(*known.of, history_));
      report.step_shares.push_back(advice::step_share_of(*known.of));
    } else {
      const auto why = known.log->doubts.empty() ? std::string() : known.log->doubts.front();
      report.fragmentation.push_back(
          fragmentation::diagnose_totals(device, replayed, history_, why));
    }
  }
  report.pinned = fragmentation::look_at_pinned(replayed.driver(), names_, copies_);
  report.advice = advice::advise(devices, on_replayed);
  add_frames(names_, report.advice, report.verdict_frames);
  settle_habits(devices, report.advice, report.findings);
}

}  // namespace memtrace::run
