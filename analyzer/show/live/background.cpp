// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/live/background.h"

#include <utility>

#include "analyzer/trace/reader/frozen_source.h"
#include "analyzer/trace/reader/reader.h"

namespace memtrace::live {

trace::result<report_so_far> report_now(const std::string& path, const run::load_options& wanted) {
  const auto began = std::chrono::steady_clock::now();
  auto trace = trace::frozen_source::take(path);  // read more than once
  if (!trace) return trace.failure();
  auto reader = trace::reader::open(**trace);
  if (!reader) return reader.failure();
  return report_so_far{run::load(path, *reader, wanted), began};
}

void background::want(const std::string& path, std::uint64_t events, bool last) {
  const auto known = asked_.find(path);
  const bool is_new = known == asked_.end() || known->second != events;
  if (!is_new || events == 0) return;
  const auto make = [shared = shared_, path, wanted = wanted_] {
    auto made = report_now(path, wanted);
    if (!made) return;
    const std::scoped_lock hold(shared->lock);
    shared->found[path] = std::make_shared<const report_so_far>(std::move(*made));
  };
  const bool may_wait = !last;
  if (work_.begin(make, may_wait)) asked_[path] = events;
}

std::shared_ptr<const report_so_far> background::latest(const std::string& path) {
  const std::scoped_lock hold(shared_->lock);
  const auto found = shared_->found.find(path);
  return found == shared_->found.end() ? nullptr : found->second;
}

}  // namespace memtrace::live
