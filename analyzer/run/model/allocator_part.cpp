// SPDX-License-Identifier: Apache-2.0
//
// The findings of the model of PyTorch's allocator: why memory is fragmented, and what to change.
#include <algorithm>
#include <map>
#include <string>

#include "analyzer/judge/advice/advise.h"
#include "analyzer/run/model/parts.h"

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

void add_allocator(const trace::dictionary& names, const replay::replayer& replayed,
                   const attribution::result& attributed, const allocator_listeners& heard,
                   const advice::on_replayed_t& on_replayed, process_report& to) {
  const auto devices = heard.requests.finish(replayed, attributed, to.host, to.findings);
  for (const auto& [device, known] : devices) {
    if (known.of != nullptr) {
      to.fragmentation.push_back(fragmentation::diagnose(*known.of, heard.segments));
      to.step_shares.push_back(advice::step_share_of(*known.of));
    } else {
      const auto why = known.log->doubts.empty() ? std::string() : known.log->doubts.front();
      to.fragmentation.push_back(
          fragmentation::diagnose_totals(device, replayed, heard.segments, why));
    }
  }
  to.pinned = fragmentation::look_at_pinned(replayed.driver(), names, heard.copies);
  to.advice = advice::advise(devices, on_replayed);
  add_frames(names, to.advice, to.verdict_frames);
  settle_habits(devices, to.advice, to.findings);
}

}  // namespace memtrace::run
