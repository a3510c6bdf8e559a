// SPDX-License-Identifier: Apache-2.0
//
// One frame of the terminal, as text: one device of one process, in as many lines as the terminal
// has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "analyzer/base/text/page.h"
#include "analyzer/show/live/background.h"
#include "analyzer/show/live/followed_run.h"

namespace memtrace::live {

enum class sort_by : std::uint8_t { bytes, blocks, bytes_at_peak };

struct frame_options {
  std::size_t rows = 24;  // 0: as many as it takes
  std::size_t columns = 80;
  bool unicode = true;
  bool keys = false;    // name them in the last line
  bool paused = false;  //
  sort_by sorted = sort_by::bytes;
};

struct shown_run {
  const followed_run& run;
  std::uint32_t device = 0;
  std::size_t number = 0;  // of the processes, from 0
  std::size_t processes = 1;
  std::size_t others_over = 0;                  // of the other processes: not running any more
  std::shared_ptr<const report_so_far> report;  // null: none yet
  bool report_in_work = false;
};

[[nodiscard]] text::page frame_of(const shown_run& shown, const frame_options& how);

[[nodiscard]] text::page help_page(const frame_options& how);

// "running", "ended by itself", "killed: …"
[[nodiscard]] std::string words_of(const followed_run& run);
// "rank 3", or "pid 4242" of one that does not say.
[[nodiscard]] std::string name_of(const followed_run& run);

// Whether its report is on all that was recorded.
[[nodiscard]] bool is_whole(const shown_run& shown);
// The verdict on a device: that report's, which finds steps that the program does not mark; before
// it that of the steps so far. Null: none yet.
[[nodiscard]] const verdicts::verdict* growth_of(const shown_run& shown, std::uint32_t device);

// The figures of a frame for programs: bytes, and names as in the report's JSON.
[[nodiscard]] nlohmann::ordered_json facts_json(const std::vector<shown_run>& all);

}  // namespace memtrace::live
