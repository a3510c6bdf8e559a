// SPDX-License-Identifier: Apache-2.0
//
// The parts of a report. Each is filled in by one function, from those who listened for it while the
// trace was read; pass::report lists them all, in their order, since some build on parts before them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/judge/advice/piece.h"
#include "analyzer/judge/blocks/gather.h"
#include "analyzer/judge/fragmentation/segment_history.h"
#include "analyzer/judge/verdicts/collector.h"
#include "analyzer/judge/verdicts/empty_cache_use.h"
#include "analyzer/run/model/model.h"

namespace memtrace::run {

// run, completeness, stacks, warnings, unknown_entry_points
void add_recording(const trace::dictionary& names, const format::file_header& header,
                   const trace::completeness& completeness, const replay::replayer& replayed,
                   process_report& to);

// devices, ooms, training, pinned_peak. After the recording, of which it asks for a snapshot.
// `has_blocks_of_calls`: there was no allocator, what CUDA's calls got was followed in its place.
void add_devices(const trace::dictionary& names, const replay::replayer& replayed,
                 const attribution::result& attributed, bool has_blocks_of_calls,
                 process_report& to);

// In each of the devices: outside, used, activity. `used`: who held it when most of it was in use.
void add_device_use(std::map<std::uint32_t, device::usage> used,
                    const std::map<std::uint32_t, device::device_activity>& activity,
                    process_report& to);

struct verdict_options {
  const std::string& unit;  // what the steps of the lives are
  const std::vector<verdicts::expectation>& suppressions;
};
// findings, verdict_frames. After the host's samples.
void add_verdicts(const trace::dictionary& names, const replay::replayer& replayed,
                  const attribution::result& attributed, const verdicts::collector& lives,
                  const verdict_options& how, const remedies::empty_cache_use& cache_use,
                  process_report& to);

struct allocator_listeners {
  blocks::gatherer& requests;
  const fragmentation::segment_history& segments;
  const fragmentation::host_copies& copies;
};
// fragmentation, step_shares, pinned, advice; and adds to verdict_frames. After the verdicts: takes
// out of their findings the habits that a replay judged better.
void add_allocator(const trace::dictionary& names, const replay::replayer& replayed,
                   const attribution::result& attributed, const allocator_listeners& heard,
                   const advice::on_replayed_t& on_replayed, process_report& to);

}  // namespace memtrace::run
