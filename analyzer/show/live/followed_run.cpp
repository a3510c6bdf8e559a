// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/live/followed_run.h"

#include <algorithm>
#include <utility>

#include "analyzer/base/text/numbers.h"
#include "analyzer/model/replay/blocks_of_calls.h"
#include "analyzer/trace/reader/observers.h"

namespace memtrace::live {

namespace {

// A part of a core at most is spent on looks.
constexpr int share_of_looks = 20;
constexpr std::size_t sections_at_once = 4;

[[nodiscard]] attribution::options with_lives(verdicts::collector& lives) {
  attribution::options wanted;
  wanted.lives = &lives;
  return wanted;
}

}  // namespace

// The highest totals over time, after the attributor has seen the record.
class time_watch final : public trace::record_visitor {
 public:
  time_watch(const replay::replayer& replayed, std::map<std::uint32_t, time_peaks>& to)
      : replayed_(replayed), to_(to) {}
  void on_allocator(const trace::event& head, const trace::allocator_event&) override {
    note(head.device, head.time_ns);
  }
  void on_reported(const trace::event& head, const trace::reported_event&) override {
    note(head.device, head.time_ns);
  }

 private:
  // An allocation's true size comes with the report after it: it counts with the next event.
  void note(std::uint32_t device, std::uint64_t time_ns) {
    const auto* const found = replayed_.device(device);
    if (found != nullptr) to_[device].observe(time_ns, found->allocator.allocated());
  }
  const replay::replayer& replayed_;
  std::map<std::uint32_t, time_peaks>& to_;
};

class followed_run::observer {
 public:
  explicit observer(followed_run& of)
      : times_(of.replayed_, of.over_time_),
        all_(of.attributed_, times_),
        blocks_(of.names(), all_) {
    blocks_.stop_for_python();
  }
  [[nodiscard]] trace::record_visitor& visitor() { return everyone_; }

 private:
  time_watch times_;
  trace::observers<attribution::attributor, time_watch> all_;
  replay::blocks_of_calls blocks_;
  trace::observers<decltype(all_), replay::blocks_of_calls> everyone_{all_, blocks_};
};

trace::result<std::unique_ptr<followed_run>> followed_run::open(
    const std::string& path, std::vector<verdicts::expectation> suppressions) {
  auto file = trace::followed_file::open(path);
  if (!file) return file.failure();
  auto reader = trace::following_reader::open(**file);
  if (!reader) return reader.failure();
  auto made =
      std::unique_ptr<followed_run>(new followed_run(path, std::move(*file), std::move(*reader)));
  made->suppressions_ = std::move(suppressions);
  return made;
}

followed_run::followed_run(std::string path, std::unique_ptr<trace::followed_file> file,
                           std::unique_ptr<trace::following_reader> reader)
    : path_(std::move(path)),
      file_(std::move(file)),
      reader_(std::move(reader)),
      replayed_(reader_->names()),
      lives_(reader_->names(), replayed_),
      attributed_(reader_->names(), replayed_, with_lives(lives_)),
      records_(std::make_unique<observer>(*this)) {}

followed_run::~followed_run() = default;

bool followed_run::poll(clock::duration at_most) {
  if (is_over() || found_) return false;
  file_->look_again();
  // Asked before the last records are read: what is there afterwards was written by one that lived.
  if (!gone_ && clock::now() >= next_question_) {
    gone_ = writer_is_gone();
    next_question_ = clock::now() + std::chrono::milliseconds(500);
  }
  const auto slots =
      gone_ || file_->has_shared_head() ? trace::slots_are::current : trace::slots_are::copies;
  const auto until = clock::now() + at_most;
  do {
    has_more_ = reader_->poll(records_->visitor(), sections_at_once, slots);
  } while (has_more_ && clock::now() < until);
  take_state();
  return has_more_;
}

void followed_run::take_state() {
  if (reader_->is_another()) {
    state_ = run_state::replaced;
    has_more_ = false;
    return;
  }
  if (has_more_) return;
  const auto now = reader_->facts();
  if (reader_->has_trailer()) {
    state_ = run_state::ended;
  } else if (gone_) {
    const auto gave_up = static_cast<std::uint32_t>(format::file_state::stopped);
    state_ = header().state == gave_up ? run_state::stopped : run_state::killed;
  } else {
    state_ = run_state::running;
  }
  if (now.damage && (gone_ || reader_->is_stuck())) {
    state_ = run_state::damaged;
    damage_ = now.damage->message;
  }
  // Under its name there is another file: what was here is read to its end.
  if (state_ == run_state::running && file_->is_replaced()) state_ = run_state::replaced;
}

bool followed_run::writer_is_gone() const {
  const auto& of = reader_->header();
  return file_->writer(of.process_id, of.start_realtime_ns) == trace::writer_state::gone;
}

double followed_run::share_read() const {
  const auto all = file_->size();
  return all == 0
             ? 1
             : std::min(1.0, static_cast<double>(reader_->bytes_read()) / static_cast<double>(all));
}

std::optional<std::uint64_t> followed_run::rank() const {
  return text::number_in(replayed_.info(format::info_key::rank));
}

std::optional<std::uint64_t> followed_run::world_size() const {
  return text::number_in(replayed_.info(format::info_key::world_size));
}

void followed_run::look(bool now_please) {
  const auto events = reader_->facts().events;
  const auto began = clock::now();
  const bool is_new = events != looked_at_ || held_.empty();
  if (!now_please && (found_ || !is_new || began < next_look_)) return;
  looked_at_ = events;
  auto growth = verdicts::conclude(lives_, replayed_, names(), "step", suppressions_);
  for (const auto device : devices()) {
    auto& held = held_[device];
    held.events = events;
    if (!found_) held.now = run::view_of(names(), attributed_.held_now(device));
    const auto* const concluded = found_ ? &found_->devices : nullptr;
    held.at_peak = concluded == nullptr ? run::view_of(names(), attributed_.held_at_peak(device))
                                        : run::view_of(names(), concluded->at(device).at_peak);
    held.growth.reset();
    for (auto& verdict : growth.verdicts) {
      if (verdict.about.kind != verdicts::subject_kind::device || verdict.about.device != device) {
        continue;
      }
      held.growth = std::move(verdict);
      break;
    }
  }
  next_look_ = clock::now() + (clock::now() - began) * share_of_looks;
}

void followed_run::conclude() {
  if (found_) return;
  look(true);
  found_ = attributed_.finish();
  look(true);
}

std::vector<std::uint32_t> followed_run::devices() const {
  std::vector<std::uint32_t> used;
  for (const auto& [index, device] : replayed_.devices()) {
    if (device->events != 0) used.push_back(index);
  }
  return used;
}

std::uint32_t followed_run::busiest_device() const {
  std::uint32_t busiest = 0;
  std::uint64_t most = 0;
  for (const auto& [index, device] : replayed_.devices()) {
    const auto peak = device->allocator.peak_allocated().totals.allocated;
    if (peak > most) {
      most = peak;
      busiest = index;
    }
  }
  return busiest;
}

attribution::steps_so_far followed_run::steps(std::uint32_t device) const {
  if (!found_) return attributed_.steps(device);
  const auto place = found_->devices.find(device);
  if (place == found_->devices.end()) return {};
  const auto& steps = place->second.steps;
  attribution::steps_so_far found{steps.boundary, steps.count, {}, steps.steps};
  if (!steps.steps.empty()) {
    found.latest = steps.steps.back();
    found.before = found.before.first(found.before.size() - 1);
  }
  return found;
}

const time_peaks* followed_run::over_time(std::uint32_t device) const {
  const auto found = over_time_.find(device);
  return found == over_time_.end() ? nullptr : &found->second;
}

const held_memory* followed_run::held(std::uint32_t device) const {
  const auto found = held_.find(device);
  return found == held_.end() ? nullptr : &found->second;
}

}  // namespace memtrace::live
