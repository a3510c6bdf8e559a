// SPDX-License-Identifier: Apache-2.0
//
// The testimony of both witnesses, out of the records of a trace.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/model/device/activity.h"
#include "analyzer/show/audit/sighting.h"
#include "analyzer/trace/reader/dictionary.h"
#include "analyzer/trace/reader/records.h"
#include "memtrace/cuda_calls.h"

namespace memtrace::audit {

// Calls, or CUPTI's records, of one kind that the other does not tell of.
struct not_compared {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

struct testimony {
  std::vector<sighting> ours, theirs;
  bool has_witness = false;  // CUPTI listened
  std::string reason;        // why it did not, or why it stopped
  std::uint64_t version = 0;
  std::int64_t begin_ns = 0;
  std::optional<std::int64_t> end_ns;              // none: it listened to the last
  std::uint64_t lost = 0;                          // records that CUPTI dropped
  std::uint64_t unreadable = 0;                    // of its records in the trace
  std::map<std::string, not_compared> only_hooks;  // by effect, in words
  std::map<std::string, not_compared> only_cupti;  // by kind of memory
  std::uint64_t pools_made[2] = {0, 0};            // by the hooks, by CUPTI
  std::uint64_t pools_destroyed[2] = {0, 0};
  std::map<std::uint32_t, device::device_activity> devices;
};

class collector final : public trace::record_visitor {
 public:
  collector(const trace::dictionary& names, const format::file_header& header)
      : names_(names), header_(header) {}

  void on_operation(const trace::event& at, const trace::operation_event& what) override;
  void on_cuda_call(const trace::event& at, const trace::cuda_call_event& call) override;
  void on_cuda_undo(const trace::event& at, const trace::cuda_undo_event& undo) override;
  void on_counter(const trace::event& at, const trace::counter_event& counter) override;

  [[nodiscard]] testimony& found() { return found_; }

 private:
  void witness(const trace::event& at, const trace::operation_event& what);
  void state(const trace::operation_event& what);
  void add_ours(const trace::event& at, const trace::cuda_call_event& call, bool is_release);

  const trace::dictionary& names_;
  const format::file_header& header_;
  testimony found_;
  // The latest release of each address, to be taken back if it fails.
  std::unordered_map<std::uint64_t, std::size_t> released_;
};

}  // namespace memtrace::audit
