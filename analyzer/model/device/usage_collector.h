// SPDX-License-Identifier: Apache-2.0
//
// Gathers, while a trace is read, when most of each device was in use and who held it then.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/model/device/loaded_code.h"
#include "analyzer/model/device/usage.h"
#include "analyzer/model/device/usage_sums.h"
#include "analyzer/model/replay/replay.h"
#include "analyzer/trace/reader/dictionary.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::device {

// A counter of a device: "memtrace.device.0.used".
struct counter_name {
  std::uint32_t device = 0;
  std::string suffix;
};
[[nodiscard]] std::optional<counter_name> parse_counter(std::string_view name);

// Behind the replay: what a record does is in `replayed` when it comes here.
class usage_collector final : public trace::record_visitor {
 public:
  usage_collector(const trace::dictionary& names, const replay::replayer& replayed)
      : names_(names), replayed_(replayed) {}

  void on_counter(const trace::event& head, const trace::counter_event& record) override;
  void on_cuda_call(const trace::event& head, const trace::cuda_call_event& call) override;
  void on_allocator(const trace::event& head, const trace::allocator_event& record) override;
  void on_report(const trace::report_event& report) override;

  // By device. After the last record.
  [[nodiscard]] std::map<std::uint32_t, usage> finish() const;

 private:
  // NVML's figures, at a moment of their own.
  struct look {
    std::uint64_t time_ns = 0;
    std::uint64_t others = 0;
    std::optional<std::uint64_t> own;
  };
  // What this process has beside its calls (counted::beside_calls), as looks say.
  struct beside {
    std::optional<std::uint64_t> first;
    std::optional<std::uint64_t> latest;
    std::uint64_t calls = 0;  // at the latest sample of any kind
  };
  // The counters of one moment follow each other.
  struct moment {
    std::uint64_t event = 0;
    std::uint64_t time_ns = 0;
    counted told;
    held known;
    std::optional<look> before;
    bool awaits_look = true;  // the next one may be nearer
    std::int64_t code = 0;    // of modules, confirmed and not
    std::int64_t code_unconfirmed = 0;
  };
  // A sample follows the call that gets a segment, and comes before PyTorch's allocator tells of
  // the segment and of the block that it was made for.
  enum class awaited : std::uint8_t { nothing, segment, block };
  struct watched {
    std::optional<moment> latest;
    std::optional<moment> highest;
    counted most;  // of each counter, whenever that was
    std::optional<look> latest_look;
    std::optional<look> own_look;  // the half of a look that says what this process has
    beside own;
    bool others_changed = false;  // from one look to another
    std::optional<std::uint64_t> first_others;
    loaded_code code;
    bool is_settled = true;           // the latest moment is in `code`
    trace::thread_id caller;          // of the latest CUDA call
    awaited next = awaited::nothing;  // that belongs to the highest moment
  };

  [[nodiscard]] std::optional<std::uint64_t> peak_of(const part& one, std::uint32_t device,
                                                     const counted& most) const;
  static void tell(watched& of, std::string_view suffix, std::uint64_t bytes);
  void see(watched& of, std::uint32_t device, const look& found);
  // A look and the calls before it are of two moments: they belong together where the calls had
  // got as much at the sample before.
  void see_own(watched& of, std::uint32_t device, std::optional<std::uint64_t> bytes) const;
  void begin_moment(watched& of, std::uint32_t device, const trace::event& head,
                    std::uint64_t used);
  // All of the latest moment was told.
  void settle(watched& of) const;

  const trace::dictionary& names_;
  const replay::replayer& replayed_;
  std::map<std::uint32_t, std::optional<counter_name>> counters_;  // by text
  std::map<std::uint32_t, watched> devices_;
};

}  // namespace memtrace::device
