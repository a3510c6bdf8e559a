// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/fit/trace_watch.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "analyzer/plan/fit/reading.h"
#include "analyzer/trace/reader/byte_source.h"
#include "analyzer/trace/reader/find_traces.h"
#include "analyzer/trace/reader/followed_file.h"
#include "analyzer/trace/reader/following_reader.h"

namespace memtrace::fit {

namespace {

constexpr auto quiet = std::chrono::milliseconds(1500);

}  // namespace

struct trace_watch::followed {
  std::unique_ptr<trace::followed_file> file;
  std::unique_ptr<trace::following_reader> reader;
  std::unique_ptr<reading> told;

  void poll(trace::slots_are slots) {
    file->look_again();
    const auto how = file->has_shared_head() ? trace::slots_are::current : slots;
    static_cast<void>(reader->poll(told->visitor(), std::numeric_limits<std::size_t>::max(), how));
  }
};

trace_watch::trace_watch(std::string folder) : folder_(std::move(folder)) {}

trace_watch::~trace_watch() = default;

void trace_watch::poll() {
  for (const auto& path : trace::traces_in(folder_)) {
    if (traces_.contains(path)) continue;
    auto file = trace::followed_file::open(path);
    if (!file) continue;  // just being made: the next time
    auto reader = trace::following_reader::open(**file);
    if (!reader) continue;
    auto one = std::make_unique<followed>();
    one->file = std::move(*file);
    one->reader = std::move(*reader);
    one->told = std::make_unique<reading>(one->reader->names());
    traces_.emplace(path, std::move(one));
  }
  for (auto& [path, one] : traces_) one->poll(trace::slots_are::copies);
  std::uint64_t rises = 0;
  for (const auto& [path, one] : traces_) rises += one->told->steps().last_rise();
  if (rises != rises_) risen_at_ = std::chrono::steady_clock::now();
  rises_ = rises;
  if (!refused_ && ran_out()) {
    refused_ = true;
    steps_at_refusal_ = steps();
  }
}

std::uint64_t trace_watch::steps() const {
  std::uint64_t fewest = 0;
  bool any = false;
  for (const auto& [path, one] : traces_) {
    const auto count = one->told->steps().steps();
    if (count == 0) continue;
    fewest = any ? std::min(fewest, count) : count;
    any = true;
  }
  return fewest;
}

bool trace_watch::is_settled() const {
  if (std::chrono::steady_clock::now() - risen_at_ < quiet) return false;
  bool any = false;
  for (const auto& [path, one] : traces_) {
    const auto& steps = one->told->steps();
    if (steps.steps() == 0) continue;
    if (!steps.is_settled()) return false;
    any = true;
  }
  return any;
}

bool trace_watch::ran_out() const {
  return std::ranges::any_of(traces_, [](const auto& one) { return one.second->told->ran_out(); });
}

bool trace_watch::went_on_after() const {
  return std::ranges::any_of(traces_,
                             [](const auto& one) { return one.second->told->went_on_after(); });
}

std::uint64_t trace_watch::steps_after() const {
  return refused_ ? steps() - std::min(steps(), steps_at_refusal_) : 0;
}

void trace_watch::finish(probe& into) {
  poll();
  // Records on their way when their writer was killed are in the slots.
  for (auto& [path, one] : traces_) one->poll(trace::slots_are::current);
  into.steps = steps();
  for (auto& [path, one] : traces_) {
    if (!into.refused) into.refused = one->told->refused();
    if (one->told->went_on_after()) into.caught = true;
    const auto& steps = one->told->steps();
    if (steps.steps() != 0 && steps.last_rise() == steps.steps()) into.rose_in_last_step = true;
    if (one->told->went_backward()) into.went_backward = true;
    if (into.unknown_sizes.empty()) into.unknown_sizes = one->told->unknown_sizes();
    const auto host = one->told->host();
    into.host.together += host.together;
    into.host.workers += host.workers;
    into.host.looked_at += host.looked_at;
    into.host.worker_peak = std::max(into.host.worker_peak, host.worker_peak);
    into.host.pinned += host.pinned;
    into.host.limit = std::max(into.host.limit, host.limit);
    auto used = one->told->finish(one->reader->header().process_id);
    std::ranges::move(used, std::back_inserter(into.devices));
    one->told.reset();
    // Opening puts into the file what a killed program left in memory.
    static_cast<void>(trace::file_source::open(path));
  }
  traces_.clear();
  const auto order = [](const device_use& one) {
    return std::tuple(one.rank.value_or(0), one.process, one.device);
  };
  std::ranges::sort(into.devices, {}, order);
}

}  // namespace memtrace::fit
