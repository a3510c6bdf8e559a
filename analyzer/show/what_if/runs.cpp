// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/what_if/runs.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "analyzer/base/text/utf8.h"
#include "analyzer/model/allocator/compile.h"
#include "analyzer/model/allocator/what_if.h"
#include "analyzer/trace/reader/observers.h"

namespace memtrace::what_if {

namespace {

using allocator::request_log;
using allocator::scenario;

class process_facts final : public trace::record_visitor {
 public:
  explicit process_facts(const trace::dictionary& names) : names_(names) {}

  void on_device(const trace::device_facts& facts) override {
    gpu_names[facts.device] = std::string(names_[facts.name]);
  }

  std::map<std::uint32_t, std::string> gpu_names;

 private:
  const trace::dictionary& names_;
};

// Those of another GPU: as much of it lies outside of the allocator as on the recorded one.
void choose_capacity(const request_log& log, const replay_wishes& wanted, replayed_device& into) {
  into.total_bytes = log.total_bytes;
  into.usable_bytes = log.usable_bytes != 0 ? log.usable_bytes : log.total_bytes;
  into.outside_bytes = into.total_bytes - std::min(into.total_bytes, into.usable_bytes);
  if (!wanted.total_bytes) return;
  into.on_recorded_device = *wanted.total_bytes == log.total_bytes;
  into.total_bytes = *wanted.total_bytes;
  // A GPU on which nothing is left is no GPU without limit.
  into.usable_bytes =
      std::max<std::uint64_t>(into.total_bytes - std::min(into.total_bytes, into.outside_bytes), 1);
}

// The distance of the capacities that are tested.
[[nodiscard]] std::uint64_t capacity_step(std::uint64_t peak_reserved) {
  constexpr std::uint64_t steps = 256;
  constexpr auto least = 2 * allocator::mebibyte;
  return std::max(least, peak_reserved / steps / least * least);
}

[[nodiscard]] std::uint64_t allocations_before(const request_log& log,
                                               const allocator::outcome& of) {
  return of.out_of_memory ? log.requests.at(of.out_of_memory->request).block : 0;
}

void replay_options(const request_log& log, replayed_device& into,
                    const std::vector<scenario>& scenarios) {
  // More than any GPU has, so that what does not fit on this one is still told how much it needs.
  constexpr auto largest = std::uint64_t{512} << 30;
  const auto most = std::max(into.usable_bytes, largest);
  const auto tried = allocator::try_each(log, scenarios, most, into.capacity_step);
  for (std::size_t i = 0; i < tried.size(); ++i) {
    auto& option = into.options[i];
    option.range = tried[i].range;
    option.allocations_before = allocations_before(log, option.range.worst);
    option.most_allocations_before = allocations_before(log, option.range.best);
    option.fits = tried[i].fits;
  }
}

[[nodiscard]] replayed_device replay_device(const request_log& log, const replay_wishes& wanted,
                                            const std::vector<option_to_try>& options) {
  replayed_device made;
  made.index = log.device;
  made.requests = log.requests.size();
  made.doubts = log.doubts;
  made.recorded_refusals = log.refused_events.size();
  made.exact = allocator::compare_with_recording(log);
  made.capacity_step = capacity_step(made.exact.replayed.reserved.bytes);
  choose_capacity(log, wanted, made);

  auto base = allocator::as_recorded(log);
  base.total_bytes = made.total_bytes;
  base.usable_bytes = made.usable_bytes;
  std::vector<scenario> scenarios = {base};
  made.options.push_back({allocator::to_text(log.options), true, {}, {}, {}});
  for (const auto& option : options) {
    const bool first_asked = &option == options.data() && !wanted.alloc_confs.empty();
    if (option.settings == log.options) {
      if (first_asked) made.options[0].alloc_conf = option.text;
      continue;
    }
    if (first_asked) made.asked_for = 1;
    auto under = base;
    under.options = option.settings;
    scenarios.push_back(under);
    made.options.push_back({option.text, false, {}, {}, {}});
  }
  replay_options(log, made, scenarios);
  return made;
}

using device_logs = std::map<std::uint32_t, std::unique_ptr<request_log>>;

[[nodiscard]] std::string refusal_of(const device_logs& logs) {
  if (logs.empty()) {
    return "holds no allocation on a GPU, so there is nothing to replay; record a run that uses "
           "one";
  }
  for (const auto& [device, log] : logs) {
    if (log->options.backend == allocator::backend::native) continue;
    return "was recorded with backend:cudaMallocAsync, which leaves memory to CUDA's own "
           "allocator, whose rules are not public; record it with the native one to replay it";
  }
  return {};
}

void name_places(const trace::reader& reader, replayed_process& made) {
  std::set<std::uint64_t> events;
  const auto visit = [&](const auto& use) {
    for (auto& device : made.devices) {
      for (auto& option : device.options) {
        if (option.range.worst.out_of_memory) use(option, *option.range.worst.out_of_memory);
      }
    }
  };
  visit([&](const replayed_option&, const allocator::refused_request& at) {
    events.insert(at.event);
  });
  const auto places = find_places(reader.again(), events);
  visit([&](replayed_option& option, const allocator::refused_request& at) {
    const auto found = places.find(at.event);
    if (found != places.end()) option.runs_out_at = found->second;
  });
}

}  // namespace

replayed_process replay_trace(const std::string& path, trace::reader& reader,
                              const replay_wishes& wanted,
                              const std::function<void(const trace::progress&)>& on_progress) {
  replayed_process made;
  made.path = text::valid_utf8(path);
  made.pid = reader.header().process_id;
  allocator::compiler compiler(reader.names());
  process_facts facts(reader.names());
  trace::observers both(compiler, facts);
  made.completeness = reader.read(both, on_progress);
  const auto logs = compiler.finish();
  made.refusal = refusal_of(logs);
  if (!made.refusal.empty()) return made;
  made.torch_version = logs.begin()->second->torch_version;
  const auto options = choose_options(wanted.alloc_confs, made.torch_version);
  made.refusal = options.refusal;
  if (!made.refusal.empty()) return made;
  for (const auto& [index, log] : logs) {
    made.devices.push_back(replay_device(*log, wanted, options.options));
    made.devices.back().name = facts.gpu_names[index];
  }
  name_places(reader, made);
  return made;
}

}  // namespace memtrace::what_if
