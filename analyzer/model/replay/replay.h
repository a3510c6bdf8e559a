// SPDX-License-Identifier: Apache-2.0
//
// Replays a trace: every device's allocator, the memory got from CUDA directly, what the program
// said about itself, and the moments it ran out of memory.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/replay/device_replay.h"
#include "analyzer/model/replay/driver_memory.h"
#include "analyzer/model/replay/residency.h"
#include "analyzer/trace/reader/dictionary.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::replay {

// A CUDA function that the program got by name and whose calls were not recorded.
struct unknown_entry_point {
  std::string name;
  std::uint64_t cuda_version = 0;  // asked for; 0: none was
  bool is_another = false;  // of a name that is recorded, but not the function that was recorded
};

class unknown_entry_points {
 public:
  void add(const trace::operation_event& record);

  // Each once, in the order in which they were asked for; no more than some hundred.
  [[nodiscard]] const std::vector<unknown_entry_point>& all() const { return all_; }

 private:
  std::vector<unknown_entry_point> all_;
};

struct out_of_memory {
  std::uint32_t device = 0;
  std::uint64_t event = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t requested = 0;  // bytes, rounded by the allocator
  // What CUDA said was free at that moment, or what the program let PyTorch take of it.
  std::uint64_t device_free = 0;
  // All that it may reserve: torch.cuda.set_per_process_memory_fraction. Nothing: the whole device.
  std::optional<std::uint64_t> allowed;
  device_totals totals;     // in the allocator's terms
  bool has_layout = false;  // false: too many of them, `free` and `holders` are empty
  largest_free free;
  std::vector<site_holding> holders;
  trace::stack_id stack;
  trace::stack_id forward;  // in backward: the call whose gradient is computed
  trace::thread_id thread;
  bool caught = false;      // an allocation succeeded afterwards, or:
  bool ended_well = false;  // the program ended with exit status 0, and its main thread had asked
};

// A library, or the program itself, asked CUDA for memory beside PyTorch's pool, and got none.
struct outside_refusal {
  std::uint32_t device = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t requested = 0;
  device_totals totals;  // of the pool at that moment
  trace::text_id library;
  trace::stack_id stack;
  trace::thread_id thread;
  bool caught = false;  // as above
  bool ended_well = false;
};

// The one that ended the program, if one did; else the first; null where there is none.
[[nodiscard]] const out_of_memory* decisive(const std::vector<out_of_memory>& ooms);

struct device_record {
  device_replay allocator;
  trace::device_facts facts;         // total_bytes 0: not recorded
  std::uint64_t events = 0;          // of the allocator
  std::uint64_t retries = 0;         // allocations that first freed cached memory, by failed calls
  std::uint64_t driver_at_peak = 0;  // device memory from CUDA calls, at the allocated peak
  bool call_failed = false;          // since the latest alloc or oom
  double memory_fraction = 1;        // torch.cuda.set_per_process_memory_fraction

  // Bytes that PyTorch may reserve; nothing where all of the device.
  [[nodiscard]] std::optional<std::uint64_t> allowed() const {
    if (memory_fraction >= 1 || facts.total_bytes == 0) return std::nullopt;
    return static_cast<std::uint64_t>(memory_fraction * static_cast<double>(facts.total_bytes));
  }
};

[[nodiscard]] bool is_backward_thread(const trace::dictionary& names, trace::thread_id thread);

// Where allocations came from.
struct stack_counts {
  std::uint64_t allocations = 0;
  std::uint64_t backward = 0;    // on autograd's threads, which run no Python
  std::uint64_t unresolved = 0;  // on other threads, without a Python frame
};

class replayer final : public trace::record_visitor {
 public:
  explicit replayer(const trace::dictionary& names) : names_(names) {}

  void on_info(std::string_view key, std::string_view value) override;
  void on_device(const trace::device_facts& facts) override;
  void on_allocator(const trace::event& head, const trace::allocator_event& record) override;
  void on_report(const trace::report_event& report) override;
  void on_reported(const trace::event& head, const trace::reported_event& record) override;
  void on_operation(const trace::event& head, const trace::operation_event& record) override;
  void on_cuda_call(const trace::event& head, const trace::cuda_call_event& call) override;
  void on_cuda_undo(const trace::event& head, const trace::cuda_undo_event& failed) override;
  // Devices on which the call takes memory of PyTorch's away or puts it back, to be asked before
  // the call is replayed. Mostly none.
  [[nodiscard]] std::vector<std::uint32_t> sleeping_on(const trace::cuda_call_event& call);
  [[nodiscard]] std::vector<std::uint32_t> sleeping_on(const trace::cuda_undo_event& failed);
  void on_message(const trace::event& head, const trace::message_event& record) override;
  void finish();  // no more records

  [[nodiscard]] const std::map<std::uint32_t, std::unique_ptr<device_record>>& devices() const {
    return devices_;
  }
  [[nodiscard]] const device_record* device(std::uint32_t index) const;
  [[nodiscard]] std::string info(std::string_view key) const;  // empty: not recorded
  // Info `refused`, of which there may be several.
  [[nodiscard]] const std::vector<std::string>& refused() const { return refused_; }
  // Info `unknown_read`, the first thousand.
  [[nodiscard]] const std::vector<std::string>& unknown_reads() const { return unknown_reads_; }
  // All whose key begins with `prefix`: the rest of the key, and the value.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> infos(
      std::string_view prefix) const;
  [[nodiscard]] const std::vector<out_of_memory>& ooms() const { return ooms_; }
  [[nodiscard]] const std::vector<outside_refusal>& outside_refusals() const {
    return outside_refusals_;
  }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
  [[nodiscard]] const unknown_entry_points& unknown() const { return unknown_; }
  [[nodiscard]] const stack_counts& stacks() const { return stacks_; }
  // The allocator's: the texts that PyTorch read or was given, each once, the latest last.
  [[nodiscard]] const std::vector<std::string>& settings() const { return settings_; }
  [[nodiscard]] const driver_memory& driver() const { return driver_; }

 private:
  [[nodiscard]] device_record& at(std::uint32_t index);
  void change_backing(const trace::event& head, const backing_change& what);
  [[nodiscard]] std::vector<std::uint32_t> concerned_by(const std::optional<backing_change>& what);
  void run_out(const trace::event& head, const trace::allocator_event& record,
               device_record& device);
  void count_stack(const trace::event& head, trace::stack_id stack);
  void ended_well();
  void went_on(std::uint32_t device);
  void outside_went_on(std::uint32_t device);

  const trace::dictionary& names_;
  std::map<std::uint32_t, std::unique_ptr<device_record>> devices_;
  std::array<device_record*, 128> by_index_{};  // the same, for speed
  std::map<std::string, std::string, std::less<>> info_;
  std::vector<std::string> refused_;
  std::vector<std::string> unknown_reads_;
  driver_memory driver_;
  backing_calls backing_;
  stack_counts stacks_;
  std::vector<out_of_memory> ooms_;
  std::size_t open_refusals_ = 0;  // that nobody went on from
  std::size_t judged_ooms_ = 0;    // before this, `caught` is final
  std::uint64_t layout_work_ = 0;
  std::vector<std::string> warnings_;
  unknown_entry_points unknown_;
  std::vector<outside_refusal> outside_refusals_;
  std::vector<std::string> settings_;
};

}  // namespace memtrace::replay
