// SPDX-License-Identifier: Apache-2.0
//
// Evidence by device, put together after a trace was read:
//
//   gatherer all(names);
//   … reader.read(visitors with all.records(), attributor with all.lives()) …
//   auto devices = all.finish(replayed, attributed, host);
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/judge/blocks/block_collector.h"
#include "analyzer/judge/blocks/evidence.h"
#include "analyzer/judge/blocks/first_requests.h"
#include "analyzer/model/allocator/compile.h"
#include "analyzer/trace/reader/observers.h"

namespace memtrace::blocks {

// The evidence on a device; `of` refers to the log.
struct device_evidence {
  std::unique_ptr<allocator::request_log> log;
  std::unique_ptr<evidence> of;  // null: the log's doubts say why
};

class gatherer {
 public:
  // Requests of all devices together that are kept: some 45 bytes each.
  static constexpr std::uint64_t most_requests = 8'000'000;

  explicit gatherer(const trace::dictionary& names, std::uint64_t most = most_requests);
  gatherer(const gatherer&) = delete;
  gatherer& operator=(const gatherer&) = delete;

  using observers = trace::observers<first_requests, block_collector>;
  [[nodiscard]] observers& records() { return observers_; }
  [[nodiscard]] attribution::life_observer& lives() { return blocks_; }

  // Once. What is given must outlive what is returned.
  [[nodiscard]] std::map<std::uint32_t, device_evidence> finish(
      const replay::replayer& replayed, const attribution::result& attributed,
      const host::host_samples& host, const verdicts::findings& findings);

 private:
  const trace::dictionary& names_;
  std::uint64_t most_;
  block_collector blocks_;
  allocator::compiler requests_;
  first_requests first_;
  observers observers_;
};

// Fills in what follows from the log and where its steps end: step_ends, and of each block the
// steps of birth and death.
void count_steps(evidence& of, const std::vector<std::uint64_t>& end_events);

}  // namespace memtrace::blocks
