// SPDX-License-Identifier: Apache-2.0
//
// torch.cuda.empty_cache() that is called again and again. It frees nothing that is alive; it gives
// unused segments back to CUDA, and what the next batch then needs has to be asked for again:
//
//   empty_cache  cudaFree ×3 (each waits for the GPU)   ─┐ time inside: measured
//   next batch   cudaMalloc ×3                          ─┘ the same bytes: regained
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analyzer/judge/verdicts/verdict.h"
#include "analyzer/trace/reader/dictionary.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::remedies {

class empty_cache_use final : public trace::record_visitor {
 public:
  explicit empty_cache_use(const trace::dictionary& names) : names_(names) {}

  void on_info(std::string_view key, std::string_view value) override;
  void on_allocator(const trace::event& head, const trace::allocator_event& record) override;
  void on_operation(const trace::event& head, const trace::operation_event& record) override;

  // Nothing where it was called now and then only, or where what it gave back was not needed
  // again, so that somebody else could use it. `steps`: of the run; 0: not known. `step_ends`:
  // times, ascending; none: each call counts as one of another step.
  [[nodiscard]] std::optional<verdicts::habit> finish(
      std::uint64_t steps, std::span<const std::uint64_t> step_ends) const;

 private:
  struct call {
    bool open = false;
    std::uint64_t began_ns = 0;
  };
  [[nodiscard]] bool is_frequent(std::uint64_t steps,
                                 std::span<const std::uint64_t> step_ends) const;
  [[nodiscard]] bool did_good() const;
  [[nodiscard]] trace::stack_id most_frequent_place() const;

  const trace::dictionary& names_;
  bool simulated_ = false;
  std::map<trace::thread_id, call> calls_;           // of the threads that ever called
  std::map<std::uint32_t, std::uint64_t> missing_;   // by device: given back, not asked for again
  std::map<trace::stack_id, std::uint64_t> places_;  // bounded
  std::vector<std::uint64_t> began_ns_;              // of calls, bounded
  std::uint64_t times_ = 0;
  std::uint64_t inside_ns_ = 0;
  std::uint64_t first_ns_ = 0;
  std::uint64_t last_ns_ = 0;
  std::uint64_t freed_segments_ = 0;
  std::uint64_t freed_bytes_ = 0;
  std::uint64_t regained_segments_ = 0;
  std::uint64_t regained_bytes_ = 0;
  std::uint64_t freed_before_last_ = 0;  // bytes, by all calls but the last: it has no next batch
};

}  // namespace memtrace::remedies
