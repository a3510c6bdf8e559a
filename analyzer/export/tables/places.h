// SPDX-License-Identifier: Apache-2.0
//
// Frames and call stacks of all processes of an export, each once: the tables frames and stacks.
// The same line has the same number in every rank, so that ranks can be compared by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/export/tables/sink.h"
#include "analyzer/run/model/model.h"
#include "analyzer/trace/code/frames.h"
#include "analyzer/trace/reader/dictionary.h"

namespace memtrace::tables {

struct place {
  code::source_frame frame;
  std::string line;  // file:line function
};

class places {
 public:
  explicit places(sink& to) : to_(to) {}
  places(const places&) = delete;
  places& operator=(const places&) = delete;

  // Numbers begin at 1; 0: none. Rows are added when a number is given.
  [[nodiscard]] std::uint32_t frame(const code::source_frame& found);
  [[nodiscard]] std::uint32_t stack(const trace::dictionary& names, trace::stack_id stack);
  // The innermost frame of the user's own code, else the innermost.
  [[nodiscard]] std::uint32_t site_of(const std::vector<code::source_frame>& innermost_first);
  [[nodiscard]] std::uint32_t site_of(std::uint32_t stack) const {
    return stack == 0 ? 0 : stacks_[stack - 1].site;
  }
  [[nodiscard]] const place& operator[](std::uint32_t frame) const { return frames_[frame - 1]; }

  // Ids of a trace mean something else in the next one.
  void next_process() {
    known_frames_.clear();
    known_stacks_.clear();
  }

 private:
  struct node {
    std::uint32_t site = 0;
    std::uint32_t depth = 0;
  };

  [[nodiscard]] std::uint32_t frame(const trace::dictionary& names, trace::frame_id id);
  [[nodiscard]] std::uint32_t push(std::uint32_t caller, std::uint32_t frame);

  sink& to_;
  std::deque<place> frames_;
  std::map<std::string, std::uint32_t> numbers_;  // of frames, by their line
  std::vector<node> stacks_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> by_caller_;
  std::unordered_map<std::uint32_t, std::uint32_t> known_frames_;  // by frame id
  std::unordered_map<std::uint32_t, std::uint32_t> known_stacks_;  // by stack id
};

// The tables that repeat the report: processes, devices, phases, modules, verdicts, suspects,
// retainers, fragmentation, advice, oom. They are taken from its JSON, by the pointers in the
// schema, so that they cannot say anything else.
void add_report_rows(const run::process_report& process, std::size_t number, places& known,
                     sink& to);

}  // namespace memtrace::tables
