// SPDX-License-Identifier: Apache-2.0
//
// The counts of CUPTI on each device, and how long it listened.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/trace/reader/dictionary.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::device {

struct device_activity {
  std::uint64_t busy_ns = 0;  // at least one kernel ran
  std::uint64_t kernels = 0;
  std::uint64_t migrated_in = 0;  // bytes of unified memory
  std::uint64_t migrated_out = 0;
  std::uint64_t faults = 0;       // groups of page faults
  std::uint64_t listened_ns = 0;  // the rest of it the device was idle

  [[nodiscard]] std::uint64_t idle_ns() const {
    return listened_ns > busy_ns ? listened_ns - busy_ns : 0;
  }
};

// Reads a counter of CUPTI's into the devices; false for any other.
bool add_counter(std::map<std::uint32_t, device_activity>& devices, std::string_view name,
                 double value);

// "1,204 kernels ran for 3.40 s, 24.2 % of the time"; what moved, or nothing if none did.
[[nodiscard]] std::string kernel_words(const device_activity& device);
[[nodiscard]] std::string migration_words(const device_activity& device);

class activity_collector final : public trace::record_visitor {
 public:
  explicit activity_collector(const trace::dictionary& names) : names_(names) {}

  void on_operation(const trace::event& at, const trace::operation_event& what) override;
  void on_counter(const trace::event& at, const trace::counter_event& counter) override;

  // Empty where CUPTI was not asked, or had nothing to tell.
  [[nodiscard]] std::map<std::uint32_t, device_activity> finish() const;

 private:
  const trace::dictionary& names_;
  std::map<std::uint32_t, device_activity> devices_;
  // By the records' own times, since the trace was created.
  std::optional<std::uint64_t> began_ns_, ended_ns_;
  std::uint64_t last_told_ns_ = 0;
};

}  // namespace memtrace::device
