// SPDX-License-Identifier: Apache-2.0
//
// The records about one device made into its requests and the answers to them.
//
// The order of the allocator's entries is that of what it did, and a request's own entry comes
// last: segment_alloc, alloc. So whatever a thread's entries tell of segments belongs to its next
// allocation, and frees that complete after the allocator waited for them belong behind it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/model/allocator/recorded_answers.h"
#include "analyzer/model/allocator/request_log.h"
#include "analyzer/model/replay/address_map.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::allocator {

class device_compiler {
 public:
  device_compiler(std::uint32_t device, kept_answers keep);

  void device_is(std::uint64_t total_bytes, std::uint64_t free_bytes);
  void allocator_entry(const trace::event& head, const trace::allocator_event& entry);
  void report(const trace::report_event& told);
  void block_report(const trace::event& head, const trace::reported_event& told);
  void operation(const trace::event& head, const trace::operation_event& done);
  void settings_change(const trace::event& head, std::string_view text);
  // A call for device memory or address space; `refusal`: out of memory.
  void driver_call(const trace::event& head, driver_action what, std::uint64_t address,
                   std::uint64_t bytes);
  void outside_released(std::uint64_t address);
  void doubt(std::string why);

  [[nodiscard]] bool has_allocations() const { return !log_.allocations.empty(); }
  [[nodiscard]] bool has_requests() const { return !log_.requests.empty(); }
  [[nodiscard]] std::unique_ptr<request_log> finish();

 private:
  struct live_block {
    block_number number = 0;
    bool requested = false;  // its free was
  };
  struct pool_history {
    bool made = false;           // by a pool_create, recorded or understood
    bool serves_others = false;  // when they are out of memory
    bool was_begun = false;
    std::uint32_t first_begin = 0;    // request
    std::uint32_t open = 0;           // begun and not ended
    std::size_t requests_at_end = 0;  // when it was last ended
  };
  struct thread_state {
    bool waits = false;  // for frees that are held up
    bool empties = false;
    bool emptying_is_told = false;
    std::uint16_t emptied_pool = 0;
    std::uint64_t emptying_event = 0;
    std::uint32_t emptying_request = 0;
    std::vector<driver_answer> answers;                             // to its next request
    std::vector<std::pair<block_number, std::uint64_t>> completed;  // behind it; events
  };

  [[nodiscard]] thread_state& thread_of(const trace::event& head);
  [[nodiscard]] std::uint16_t stream_of(std::uint64_t handle);
  [[nodiscard]] std::uint16_t pool_of(const trace::pool_id& id);
  void add(const request& asked, std::uint64_t event);
  // `size`: see action. `pool`: at most 12 bits.
  void add(action what, std::uint64_t event, std::uint16_t pool = 0, std::uint64_t size = 0);
  void add_for(block_number block, action what, std::uint64_t event, std::uint64_t size = 0);
  void allocate(const trace::event& head, const trace::allocator_event& entry, bool refused);
  void request_free(const trace::event& head, const trace::allocator_event& entry);
  void complete_free(const trace::event& head, const trace::allocator_event& entry);
  void segment(const trace::event& head, const trace::allocator_event& entry);
  void pool_operation(std::uint64_t event, const trace::operation_event& done, std::uint16_t pool);
  void begin_pool(std::uint64_t event, std::uint16_t pool);
  [[nodiscard]] std::uint16_t asked_pool(std::uint64_t event, const trace::pool_id& id);
  void tell_emptying(thread_state& thread);
  void settle(thread_state& thread);
  void see_outside();
  [[nodiscard]] bool is_full() const;

  std::unique_ptr<request_log> made_ = std::make_unique<request_log>();
  request_log& log_ = *made_;
  std::shared_ptr<recorded_answers> answers_ = std::make_shared<recorded_answers>();
  bool keeps_totals_;
  std::vector<pool_history> pools_;  // as log_.pools
  replay::address_map<live_block> live_;
  std::unordered_map<std::uint32_t, thread_state> threads_;
  std::unordered_map<std::uint64_t, std::uint16_t> stream_numbers_;
  std::uint64_t latest_stream_ = 0;
  std::uint16_t latest_stream_number_ = 0;
  std::uint16_t latest_pool_ = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> outside_;  // address → bytes, by others
  std::uint64_t outside_bytes_ = 0;
  std::uint64_t most_outside_bytes_ = 0;
  std::uint64_t free_bytes_ = 0;
  std::uint64_t usable_at_refusal_ = 0;
  std::uint64_t taken_ = 0;          // by segments, in whole granules of the driver
  std::uint64_t told_reserved_ = 0;  // by the allocator
  std::uint64_t freed_now_ = 0;      // address of a free whose entry was the last record
  bool first_report_ = true;
  bool unknown_frees_ = false;
};

}  // namespace memtrace::allocator
