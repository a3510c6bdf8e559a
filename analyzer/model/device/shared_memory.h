// SPDX-License-Identifier: Apache-2.0
//
// Device memory that processes share: what a trace says of memory made known to other processes,
// and of memory of others opened here. A number that both processes know says which is which
// (memtrace/cuda_calls.h). What is opened is no new memory: its owner's trace counts it.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/trace/reader/dictionary.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::device {

struct opened_memory {
  std::uint64_t handle = 0;  // 0: not known whose it is
  std::uint32_t device = 0;
  std::uint64_t bytes = 0;  // 0: the driver did not tell
};

struct exported_memory {
  std::uint64_t handle = 0;
  std::uint32_t device = 0;
  std::uint64_t bytes = 0;  // of the allocation; 0: not known
};

// The shared memory of one process.
struct shared_memory {
  std::vector<exported_memory> exported;  // each handle once
  std::vector<opened_memory> opened;      // each handle once per device
};

class shared_memory_collector final : public trace::record_visitor {
 public:
  explicit shared_memory_collector(const trace::dictionary& names) : names_(names) {}

  void on_cuda_call(const trace::event& head, const trace::cuda_call_event& call) override;

  [[nodiscard]] shared_memory found() const;

 private:
  struct range {
    std::uint64_t bytes = 0;
    std::uint32_t device = 0;
  };

  const trace::dictionary& names_;
  std::map<std::uint64_t, range> allocations_;  // of this process, by address
  std::map<std::uint64_t, range> exported_;     // by handle
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t> opened_;  // bytes
};

}  // namespace memtrace::device
