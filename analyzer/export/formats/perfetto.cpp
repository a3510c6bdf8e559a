// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/formats/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "analyzer/base/text/numbers.h"
#include "analyzer/base/text/units.h"
#include "analyzer/export/formats/perfetto_device.h"
#include "analyzer/export/formats/perfetto_packets.h"
#include "analyzer/model/history/heaviest.h"
#include "memtrace/host_samples.h"

namespace memtrace::exporting {

namespace {

// The viewer runs in a browser and takes several times a file's size: with these a file stays below
// about 200 MB.
constexpr std::uint64_t most_points = 1'500'000;  // in time, over all processes
constexpr std::size_t most_largest = 20'000;      // blocks a process

class perfetto final : public sink {
 public:
  perfetto(destination& to, const options& wanted)
      : packets_(to),
        most_points_(most_points / std::max<std::size_t>(wanted.processes, 1)),
        most_largest_(wanted.top == 0 ? most_largest : wanted.top) {}

  void begin(const process& from) override {
    from_ = &from;
    const auto& run = from.report.run;
    start_ns_ = run.started_ns;
    packets_.begin(start_ns_);
    auto pid = run.pid;
    while (!pids_.insert(pid).second) ++pid;  // of another machine
    track_ = packets_.process_track(pid, process_words(from.report), run.command);
    steps_ = packets_.track(track_, "steps");
    moments_a_point_ = from.report.completeness.events / most_points_ + 1;
    largest_.emplace(most_largest_);
    first_ns_ = last_ns_ = 0;
    has_seen_ = has_event_ = false;
  }

  void carried(const block& one) override { born_outside_.insert({one.serial, one.born_ns}); }

  void happened(const allocator_event& event, const block* one, const moment& now) override {
    seen(event.time_ns);
    if (!std::exchange(has_event_, true)) first_event_ns_ = event.time_ns;
    at(event.device).happened(event, one, now);
    if (one != nullptr && event.kind != format::kind::alloc) keep(*one, event.time_ns);
    if (one != nullptr && event.kind == format::kind::alloc) living_[one->serial] = *one;
  }
  void became(const block& one, attribution::category, const moment&) override {
    const auto known = living_.find(one.serial);
    if (known != living_.end()) known->second = one;
  }

  void on_phase(const trace::event& head, const trace::phase_event& record) override {
    using format::phase_source;
    seen(head.time_ns);
    if (record.source != phase_source::user && record.source != phase_source::nvtx) return;
    auto& thread = threads_[head.thread.value];
    if (thread.track == 0) {
      thread.track = packets_.track(track_, "phases of " + thread_words(*from_, head.thread));
    }
    if (record.action == format::phase_action::begin) {
      track_event begun;
      begun.time_ns = start_ns_ + head.time_ns;
      begun.track = thread.track;
      begun.name = from_->names[record.name];
      packets_.begin_slice(begun);
      ++thread.open;
    } else if (record.action == format::phase_action::end && thread.open != 0) {
      packets_.end_slice(start_ns_ + head.time_ns, thread.track);
      --thread.open;
    }
  }

  void on_operation(const trace::event& head, const trace::operation_event& record) override {
    seen(head.time_ns);
    const auto begins = static_cast<std::uint64_t>(format::operation::empty_cache_begin);
    if (record.operation == begins) at(head.device).note(head.time_ns, "empty_cache", {});
  }

  void on_counter(const trace::event& head, const trace::counter_event& record) override {
    seen(head.time_ns);
    const auto name = from_->names[record.name];
    if (name.starts_with(format::host::device_prefix)) {
      const auto rest = name.substr(std::string_view(format::host::device_prefix).size());
      const auto dot = rest.find('.');
      const auto device = text::number_in<std::uint32_t>(rest.substr(0, dot));
      if (device && dot != rest.npos && rest.substr(dot) == format::host::device_used_suffix) {
        at(*device).used(head.time_ns, static_cast<std::uint64_t>(record.value));
      }
    } else if (name == format::host::resident) {
      if (host_ == 0) host_ = packets_.bytes_track(track_, "host memory (resident)", {});
      packets_.count(start_ns_ + head.time_ns, host_, static_cast<std::uint64_t>(record.value));
    } else if (!name.starts_with(format::host::prefix) && std::isfinite(record.value)) {
      auto& track = counters_[record.name.value];
      if (track == 0) track = packets_.number_track(track_, name);
      packets_.count(start_ns_ + head.time_ns, track, record.value);
    }
  }

  void end(const process& from, const std::vector<moment>&) override {
    for (auto& [serial, one] : living_) keep_living(one);
    tell_steps();
    for (const auto& device : from.report.devices) tell_peaks(device);
    tell_largest();
    for (auto& [thread, known] : threads_) {
      for (; known.open != 0; --known.open) packets_.end_slice(start_ns_ + last_ns_, known.track);
    }
    for (auto& [index, device] : devices_) device.end(last_ns_);
    devices_.clear();
    threads_.clear();
    counters_.clear();
    living_.clear();
    born_outside_.clear();
    host_ = 0;
  }

  [[nodiscard]] std::optional<std::string> finish() override { return std::nullopt; }

 private:
  struct shown_block {
    block one;
    std::optional<std::uint64_t> died_ns;
  };
  struct thread_phases {
    track_id track = 0;
    std::size_t open = 0;
  };

  void seen(std::uint64_t time_ns) {
    if (!std::exchange(has_seen_, true)) first_ns_ = time_ns;
    last_ns_ = std::max(last_ns_, time_ns);
  }

  [[nodiscard]] perfetto_device& at(std::uint32_t device) {
    const auto known = devices_.find(device);
    if (known != devices_.end()) return known->second;
    return devices_
        .try_emplace(device, packets_, track_, *from_, device, start_ns_, moments_a_point_)
        .first->second;
  }

  void keep(const block& one, std::uint64_t died_ns) {
    living_.erase(one.serial);
    const auto weight = static_cast<double>(one.bytes);
    if (largest_->takes(weight)) (void)largest_->add(weight, {one, died_ns});
  }
  void keep_living(const block& one) {
    const auto weight = static_cast<double>(one.bytes);
    if (largest_->takes(weight)) (void)largest_->add(weight, {one, std::nullopt});
  }

  // Those that lie in what was told.
  void tell_steps() {
    const attribution::steps_found* longest = nullptr;
    for (const auto& device : from_->report.devices) {
      if (longest == nullptr || device.steps.steps.size() > longest->steps.size()) {
        longest = &device.steps;
      }
    }
    if (longest == nullptr) return;
    auto begin_ns = std::uint64_t{0};
    std::size_t number = 0;
    for (const auto& step : longest->steps) {
      const auto began = std::max(std::exchange(begin_ns, step.end_ns), first_event_ns_);
      const auto name = fmt::format("step {}", number++);
      if (!has_event_ || step.end_ns <= first_event_ns_ || began >= last_ns_) continue;
      track_event begun;
      begun.time_ns = start_ns_ + began;
      begun.track = steps_;
      begun.name = name;
      begun.notes = {{"peak allocated", {}, step.peak}, {"allocated at its end", {}, step.left}};
      packets_.begin_slice(begun);
      packets_.end_slice(start_ns_ + std::min(step.end_ns, last_ns_), steps_);
    }
  }

  void tell_peaks(const run::device_report& device) {
    const auto known = devices_.find(device.facts.device);
    if (known == devices_.end()) return;
    const auto& allocated = device.peak_allocated;
    const auto& reserved = device.peak_reserved;
    const auto tell = [&](const replay::moment& at, std::string_view what, std::uint64_t bytes) {
      if (at.time_ns < first_ns_ || at.time_ns > last_ns_ || bytes == 0) return;
      known->second.note(at.time_ns, what, {{"bytes", {}, bytes}, {"event", {}, at.event}});
    };
    tell(allocated, "peak allocated", allocated.totals.allocated);
    tell(reserved, "peak reserved", reserved.totals.reserved);
  }

  void tell_largest() {
    auto blocks = largest_->take();
    std::ranges::sort(blocks, {}, [](const shown_block& shown) { return shown.one.serial; });
    std::vector<const shown_block*> deaths;
    for (const auto& shown : blocks) {
      tell_birth(shown);
      if (shown.died_ns) deaths.push_back(&shown);
    }
    std::ranges::stable_sort(deaths, {}, [](const shown_block* shown) { return *shown->died_ns; });
    for (const auto* const shown : deaths) {
      const auto name = "free " + words_of(shown->one);
      track_event freed;
      freed.time_ns = start_ns_ + *shown->died_ns;
      freed.track = at(shown->one.device).largest_track();
      freed.name = name;
      freed.notes = {{"bytes", {}, shown->one.bytes},
                     {"lived, ns", {}, *shown->died_ns - shown->one.born_ns}};
      freed.ending_flow = flow_of(shown->one);
      packets_.instant(freed);
    }
  }

  void tell_birth(const shown_block& shown) {
    const auto& one = shown.one;
    if (born_outside_.contains(one.serial)) return;
    const auto name = "allocate " + words_of(one);
    const auto module = module_of(*from_, one);
    track_event born;
    born.time_ns = start_ns_ + one.born_ns;
    born.track = at(one.device).largest_track();
    born.name = name;
    born.notes = {{"bytes", {}, one.bytes},           {"requested", {}, one.requested},
                  {"category", name_of(one.what), 0}, {"evidence", name_of(one.how), 0},
                  {"phase", name_of(one.born_in), 0}, {"event", {}, one.born_event},
                  {"address", {}, one.address},       {"stream", {}, one.stream}};
    if (!module.empty()) born.notes.push_back({"module", module, 0});
    if (const auto known = name_of(*from_, one); !known.empty()) {
      born.notes.push_back({"name", known, 0});
    }
    if (one.step) born.notes.push_back({"step", {}, *one.step});
    const auto line = line_of(one);
    if (!line.empty()) born.notes.push_back({"line", line, 0});
    if (shown.died_ns) born.flow = flow_of(one);
    born.call_stack = packets_.call_stack(told_stack(*from_, stack_of(one)));
    born.weight = one.bytes;
    packets_.instant(born);
  }

  // The program's own line: the innermost of its own frames.
  [[nodiscard]] std::string line_of(const block& one) const {
    const code::source_frame* innermost = nullptr;
    const auto frames = frames_outermost_first(*from_, one.stack);
    for (const auto& frame : frames) {
      if (frame.user || innermost == nullptr || !innermost->user) innermost = &frame;
    }
    if (innermost == nullptr) return {};
    return fmt::format("{}:{} {}", innermost->file, innermost->line, innermost->function);
  }
  [[nodiscard]] static std::string words_of(const block& one) {
    return fmt::format("{} {}", attribution::words_of(one.what), text::format_bytes(one.bytes));
  }
  [[nodiscard]] std::uint64_t flow_of(const block& one) const {
    return (std::uint64_t{from_->number} + 1) << 40 | one.serial;
  }

  perfetto_packets packets_;
  std::uint64_t most_points_;
  std::size_t most_largest_;
  std::set<std::uint64_t> pids_;
  // About the process at hand.
  const process* from_ = nullptr;
  std::uint64_t start_ns_ = 0;
  std::uint64_t moments_a_point_ = 1;
  std::uint64_t first_ns_ = 0;  // that was told
  std::uint64_t last_ns_ = 0;
  bool has_seen_ = false;
  std::uint64_t first_event_ns_ = 0;  // of the allocator: what was before belongs to no step
  bool has_event_ = false;
  track_id track_ = 0;
  track_id steps_ = 0;
  track_id host_ = 0;
  std::map<std::uint32_t, perfetto_device> devices_;
  std::map<std::uint32_t, thread_phases> threads_;       // by thread
  std::map<std::uint32_t, track_id> counters_;           // by name
  std::map<std::uint64_t, block> living_;                // by serial
  std::map<std::uint64_t, std::uint64_t> born_outside_;  // before the window: when
  std::optional<history::heaviest<shown_block>> largest_;
};

}  // namespace

std::unique_ptr<sink> make_perfetto(destination& to, const options& wanted) {
  return std::make_unique<perfetto>(to, wanted);
}

}  // namespace memtrace::exporting
