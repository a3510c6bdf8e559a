// SPDX-License-Identifier: Apache-2.0
//
// One process of a run that goes on: its trace is followed, and what a frame shows is kept up to
// date, record by record, by the parts that make the report:
//
//   following_reader ─► attributor ─► replayer (allocated, reserved, peaks)
//                                └──► collector (growth)
//
// The living blocks, by category and line, and the verdict on growth are worked out again for a
// frame, but so seldom that it takes at most a twentieth of a core.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/judge/verdicts/collector.h"
#include "analyzer/model/attribution/attributor.h"
#include "analyzer/model/replay/replay.h"
#include "analyzer/run/model/memory_view.h"
#include "analyzer/show/live/time_peaks.h"
#include "analyzer/trace/reader/followed_file.h"
#include "analyzer/trace/reader/following_reader.h"

namespace memtrace::live {

enum class run_state : std::uint8_t {
  reading,   // what was recorded before we came
  running,   //
  ended,     // by itself
  killed,    // its trace has no end, and its process is gone
  stopped,   // the recorder gave up
  replaced,  // another trace has taken its place, or it has become shorter
  damaged,   // what follows cannot be read
};

// As of the latest look.
struct held_memory {
  std::uint64_t events = 0;
  run::memory_view now;
  run::memory_view at_peak;
  std::optional<verdicts::verdict> growth;
};

class followed_run {
 public:
  using clock = std::chrono::steady_clock;

  [[nodiscard]] static trace::result<std::unique_ptr<followed_run>> open(
      const std::string& path, std::vector<verdicts::expectation> suppressions = {});
  followed_run(const followed_run&) = delete;
  followed_run& operator=(const followed_run&) = delete;
  ~followed_run();

  // Reads on for at most about so long. True: there is more already.
  bool poll(clock::duration at_most);
  // For a frame; `now_please`: whatever it costs.
  void look(bool now_please = false);
  // No record can come any more: now all is as the report of the whole trace says it.
  void conclude();

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] run_state state() const { return state_; }
  [[nodiscard]] bool is_over() const {
    return state_ != run_state::reading && state_ != run_state::running;
  }
  [[nodiscard]] bool writer_is_gone() const;
  [[nodiscard]] trace::completeness facts() const { return reader_->facts(); }
  [[nodiscard]] const format::file_header& header() const { return reader_->header(); }
  [[nodiscard]] const trace::dictionary& names() const { return reader_->names(); }
  [[nodiscard]] const replay::replayer& replayed() const { return replayed_; }
  [[nodiscard]] const std::string& damage() const { return damage_; }
  [[nodiscard]] double share_read() const;  // 0…1
  [[nodiscard]] std::optional<std::uint64_t> rank() const;
  [[nodiscard]] std::optional<std::uint64_t> world_size() const;

  [[nodiscard]] std::vector<std::uint32_t> devices() const;  // that were used, in order
  [[nodiscard]] std::uint32_t busiest_device() const;
  [[nodiscard]] attribution::steps_so_far steps(std::uint32_t device) const;
  [[nodiscard]] const time_peaks* over_time(std::uint32_t device) const;
  [[nodiscard]] const held_memory* held(std::uint32_t device) const;

 private:
  class observer;
  followed_run(std::string path, std::unique_ptr<trace::followed_file> file,
               std::unique_ptr<trace::following_reader> reader);
  void take_state();

  std::string path_;
  std::vector<verdicts::expectation> suppressions_;
  std::unique_ptr<trace::followed_file> file_;
  std::unique_ptr<trace::following_reader> reader_;
  replay::replayer replayed_;
  verdicts::collector lives_;
  attribution::attributor attributed_;
  std::unique_ptr<observer> records_;
  std::map<std::uint32_t, time_peaks> over_time_;
  std::map<std::uint32_t, held_memory> held_;
  std::optional<attribution::result> found_;  // once concluded
  run_state state_ = run_state::reading;
  std::string damage_;
  bool has_more_ = true;
  bool gone_ = false;            // its writer; asked before the reading of what is there
  std::uint64_t looked_at_ = 0;  // events
  clock::time_point next_look_{};
  clock::time_point next_question_{};  // whether the writer lives
};

}  // namespace memtrace::live
