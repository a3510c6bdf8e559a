// SPDX-License-Identifier: Apache-2.0
//
// The phases that the program names itself, by memtrace_phase_begin or NVTX ranges: which are open
// in which thread. They nest, and a phase counts what its inner ones do. Threads of autograd work
// for the thread that began a phase or a backward pass last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/trace/reader/records.h"

namespace memtrace::attribution {

class named_phases {
 public:
  void on_phase(const trace::event& head, const trace::phase_event& record);

  // Numbers of the phases that are open where an event happened; each once.
  [[nodiscard]] std::span<const std::uint32_t> open_at(trace::thread_id thread, bool is_autograd);
  [[nodiscard]] bool any() const { return !names_.empty(); }
  [[nodiscard]] const std::vector<trace::text_id>& names() const { return names_; }
  [[nodiscard]] bool is_nvtx(std::uint32_t phase) const { return nvtx_[phase]; }
  [[nodiscard]] std::uint64_t begun(std::uint32_t phase) const { return begun_[phase]; }

 private:
  struct open_phase {
    std::uint32_t number = 0;
    trace::text_id name;
    bool counts = true;  // false: one of the same name, or of more names than are kept
    format::phase_source source{};
  };
  struct thread_state {
    std::vector<open_phase> open;
    std::vector<std::uint32_t> counting;
  };

  void begin(thread_state& thread, const trace::phase_event& record);
  [[nodiscard]] static bool end(thread_state& thread, const trace::phase_event& record);

  std::vector<trace::text_id> names_;
  std::vector<bool> nvtx_;
  std::size_t of_nvtx_ = 0;  // how many of them
  std::vector<std::uint64_t> begun_;
  std::map<std::pair<format::phase_source, trace::text_id>, std::uint32_t> numbers_;
  std::map<trace::thread_id, thread_state> threads_;
  trace::thread_id latest_;
};

}  // namespace memtrace::attribution
