// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/model/model.h"

#include <algorithm>

namespace memtrace::run {

const oom_report* decisive_oom(const process_report& process) {
  if (process.ooms.empty()) return nullptr;
  const auto fatal =
      std::ranges::find_if(process.ooms, [](const auto& oom) { return !oom.facts.caught; });
  return fatal == process.ooms.end() ? &process.ooms.front() : &*fatal;
}

bool ran_out(const process_report& process, std::uint32_t device) {
  return std::ranges::any_of(process.ooms, [&](const oom_report& oom) {
    return oom.facts.device == device && !oom.facts.caught;
  });
}

const std::vector<code::source_frame>& frames_at(const process_report& process,
                                                 trace::stack_id stack) {
  static const std::vector<code::source_frame> none;
  const auto found = process.verdict_frames.find(stack);
  return found == process.verdict_frames.end() ? none : found->second;
}

const fragmentation::diagnosis* fragmentation_of(const process_report& process,
                                                 std::uint32_t device) {
  const auto found =
      std::ranges::find(process.fragmentation, device, &fragmentation::diagnosis::device);
  return found == process.fragmentation.end() ? nullptr : &*found;
}

}  // namespace memtrace::run
